/** Access: people, groups, service accounts, roles and resource groups, and who can do what and why. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, createTargets, JSON_TYPE, made, pipelineYaml, projectYaml, triggerYaml } from "../support/contract.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const SHOP = "/projects/default/shop/access";
const IN_SHOP = "orgIdentifier=default&projectIdentifier=shop";

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb();
  await made(create.project(web.platform, projectYaml()));
});
after(() => web?.stop());

/** The `data` of a request that succeeds. */
const send = <T>(method: string, path: string, body?: object): Promise<T> =>
  made(web.platform.send(method, path, { contentType: JSON_TYPE, ...(body && { body: JSON.stringify(body) }) }));
const userId = async (email: string): Promise<string> => {
  const { content } = await send<{ content: { uuid: string }[] }>("POST", "/ng/api/user/batch", { emails: [email] });
  return content[0]?.uuid ?? "";
};

/** Checks the open page in both colours and at 360 pixels. */
async function assertWellMade(): Promise<void> {
  await assertAccessible(web.page);
  await assertFitsNarrow(web.page);
}

/** Chooses what a combobox finds for the text. */
async function choose(label: string, text: string, option: string | RegExp): Promise<void> {
  const dialog = web.page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: label }).fill(text);
  await dialog.getByRole("option", { name: option }).click();
}

test("an invited person signs in with the link, which is shown once", { skip }, async () => {
  const { page, open, browser, signIn, complaints } = web;
  await send("POST", "/ng/api/user-groups", { identifier: "developers", name: "Developers" });
  await open("/account/access", "Users");
  await page.waitForURL(/\/access\/users$/);
  await page.getByRole("button", { name: "Invite people" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("E-mail addresses").fill("maria@example.com, not-an-address");
  await dialog.getByRole("checkbox", { name: "Developers" }).check();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create invitation links" }).click();
  const link = await dialog
    .getByRole("group", { name: "Invitation link of maria@example.com" })
    .locator("code")
    .innerText();
  await dialog.getByText("This is not a valid e-mail address.").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("row", { name: /maria@example.com/ });
  await row.getByText("Invited").waitFor();
  assert.ok(!(await page.content()).includes(new URL(link).hash.slice(1)));
  await assertFitsNarrow(page);

  const invited = await browser.context.newPage();
  await invited.goto(link);
  await invited.getByLabel("Your password", { exact: true }).fill("seven grey herons at dusk");
  await invited.getByLabel("Your password, again").fill("seven grey herons at dusk");
  await invited.getByRole("button", { name: "Set password and sign in" }).click();
  await invited.getByText("maria@example.com").first().waitFor();
  await invited.close();
  await signIn();
  const group = await send<{ users: string[] }>("GET", "/ng/api/user-groups/developers");
  assert.deepEqual(group.users, [await userId("maria@example.com")]);
  await page.reload();
  await row.getByText("Active").waitFor();
  assert.deepEqual(complaints(), []);
});

test("a user gets a role and loses it, is deactivated, reactivated and removed", { skip }, async () => {
  const { page, open, complaints } = web;
  await send("POST", "/ng/api/user/users", { emails: ["tom@example.com"] });
  await open("/account/access/users", "Users");
  await page.getByRole("link", { name: "tom@example.com" }).click();
  await page.waitForURL(/show=/);
  const panel = page.getByRole("dialog", { name: "tom@example.com", exact: true });
  const assigning = page.getByRole("dialog", { name: /^Assign a role to/ });
  await panel.getByRole("button", { name: "Assign a role" }).click();
  await assigning.getByLabel("Role").selectOption("Account Viewer");
  await assigning.getByLabel("Over").selectOption("All Account Level Resources");
  await assertAccessible(page);
  await assigning.getByRole("button", { name: "Assign role" }).click();
  await panel.getByRole("button", { name: "Remove role Account Viewer" }).waitFor();
  await assertWellMade();
  await panel.getByRole("button", { name: "Remove role Account Viewer" }).click();
  await page
    .getByRole("dialog", { name: "Remove role Account Viewer from tom@example.com?" })
    .getByRole("button", { name: "Remove role" })
    .click();
  await panel.getByText("None. Roles of groups count, too.").waitFor();
  await panel.getByRole("button", { name: "One-time password" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Set one-time password" }).click();
  const password = await page.getByRole("group", { name: "One-time password" }).locator("code").innerText();
  assert.ok(password.length >= 12);
  await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  assert.ok(!(await page.content()).includes(password));
  await panel.getByRole("button", { name: "Deactivate" }).click();
  await page
    .getByRole("dialog", { name: /^Deactivate/ })
    .getByRole("button", { name: "Deactivate" })
    .click();
  await panel.getByText("Deactivated").waitFor();
  await panel.getByRole("button", { name: "Reactivate" }).click();
  await page
    .getByRole("dialog", { name: /^Reactivate/ })
    .getByRole("button", { name: "Reactivate" })
    .click();
  await panel.getByRole("button", { name: "Remove user" }).click();
  const removing = page.getByRole("dialog", { name: "Remove user tom@example.com?" });
  assert.ok(await removing.getByRole("button", { name: "Remove user" }).isDisabled());
  await removing.getByRole("textbox").fill("tom@example.com");
  await removing.getByRole("button", { name: "Remove user" }).click();
  await panel.waitFor({ state: "hidden" });
  await page.getByRole("link", { name: "tom@example.com" }).waitFor({ state: "hidden" });
  assert.deepEqual(complaints(), []);
});

test("a group gets a member; its deletion names what it takes along", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(`${SHOP}/groups`, "Groups");
  await page.getByRole("button", { name: "New group" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Shop team");
  await dialog.getByRole("button", { name: "Create group" }).click();
  await page.getByRole("link", { name: "Shop team" }).click();
  const panel = page.getByRole("dialog", { name: "Shop team", exact: true });
  await panel.getByRole("combobox", { name: "Add a member" }).fill("maria");
  await panel.getByRole("option", { name: /maria/ }).click();
  await panel.getByRole("button", { name: "Remove maria@example.com" }).waitFor();
  await assertWellMade();
  const group = await send<{ users: string[] }>("GET", `/ng/api/user-groups/Shop_team?${IN_SHOP}`);
  assert.deepEqual(group.users, [await userId("maria@example.com")]);
  await panel.getByRole("button", { name: "Delete group" }).click();
  const deleting = page.getByRole("dialog", { name: "Delete group Shop team?" });
  await deleting.getByText(/its 1 member lose/).waitFor();
  await deleting.getByRole("textbox").fill("Shop_team");
  await deleting.getByRole("button", { name: "Delete group" }).click();
  await page.getByRole("link", { name: "Shop team" }).waitFor({ state: "hidden" });
  assert.deepEqual(complaints(), []);
});

test("a service account gets a token, which is shown once and works in its project", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await open(`${SHOP}/service-accounts`, "Service accounts");
  await page.getByText("No service accounts yet").waitFor();
  await assertWellMade();
  await page.getByRole("button", { name: "New service account" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("CI system");
  await dialog.getByRole("button", { name: "Create service account" }).click();
  await page.getByRole("heading", { name: "CI system", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Assign a role" }).click();
  await dialog.getByLabel("Role").selectOption("Pipeline Executor");
  await dialog.getByLabel("Over").selectOption("All Project Level Resources");
  await dialog.getByRole("button", { name: "Assign role" }).click();
  await page.getByRole("button", { name: "Remove role Pipeline Executor" }).waitFor();
  await page.getByRole("button", { name: "New token" }).click();
  await dialog.getByLabel("Name of the API key").fill("ci");
  await dialog.getByLabel("Name of the token").fill("build");
  const year = new Date().getUTCFullYear() + 1;
  await dialog.getByLabel("Expires on").fill(`06/30/${year}`);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const token = await dialog.getByRole("group", { name: "Token" }).locator("code").innerText();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row", { name: new RegExp(`build.*06/30/${year}`) }).waitFor();
  assert.ok(!(await page.content()).includes(token));
  await assertWellMade();
  const { status } = await platform.send("POST", `/pipeline/api/pipelines/list?${IN_SHOP}`, {
    apiKey: token,
    contentType: JSON_TYPE,
    body: JSON.stringify({ filterType: "PipelineSetup" }),
  });
  assert.equal(status, 200);
  assert.deepEqual(complaints(), []);
});

test("a role and a resource group are made, assigned, and explained", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(`${SHOP}/new-role`, "New role");
  await page.getByLabel("Name").fill("Deployer");
  await page.getByRole("group", { name: "Pipelines" }).getByRole("checkbox", { name: "execute" }).check();
  await page.getByRole("group", { name: "Secrets" }).getByRole("checkbox", { name: "Secrets" }).check();
  await page.getByRole("group", { name: "Secrets" }).getByRole("checkbox", { name: "delete" }).uncheck();
  await assertWellMade();
  await page.getByRole("button", { name: "Create role" }).click();
  await page.getByRole("heading", { name: "Deployer", level: 1 }).waitFor();
  const { role } = await send<{ role: { permissions: string[] } }>("GET", `/authz/api/roles/Deployer?${IN_SHOP}`);
  assert.deepEqual(role.permissions.toSorted(), [
    "core_pipeline_execute",
    "core_secret_access",
    "core_secret_edit",
    "core_secret_view",
  ]);

  await open(`${SHOP}/new-resource-group`, "New resource group");
  await page.getByLabel("Name").fill("One pipeline");
  await page.getByLabel("Chosen types, or single resources").check();
  await page.getByRole("checkbox", { name: "Pipelines" }).check();
  await page.getByLabel("Identifiers of pipelines").fill("deploy");
  await assertWellMade();
  await page.getByRole("button", { name: "Create resource group" }).click();
  await page.getByRole("heading", { name: "One pipeline", level: 1 }).waitFor();

  await open(`${SHOP}/permissions`, "Who can do what");
  await page.getByRole("button", { name: "Assign a role" }).click();
  const dialog = page.getByRole("dialog");
  await choose("User", "maria", /maria/);
  await dialog.getByLabel("Role").selectOption("Deployer");
  await dialog.getByLabel("Over").selectOption("One pipeline");
  await dialog.getByRole("button", { name: "Assign role" }).click();
  await page.getByRole("link", { name: "maria@example.com" }).click();
  await choose("May user maria@example.com do this in the project?", "execute", /Pipelines: execute/);
  await dialog.getByText("Not permitted").waitFor();
  await dialog.getByText("Single resources only").waitFor();
  await dialog.getByLabel("On the resource").fill("deploy");
  await dialog.getByText("Permits", { exact: true }).waitFor();
  await dialog.getByText("on resource deploy").waitFor();
  await assertWellMade();
  // The address has the question.
  await page.reload();
  await dialog.getByText("Single resources only").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("row", { name: /maria/ }).getByText("on single resources").waitFor();
  await assertWellMade();
  assert.deepEqual(complaints(), []);
});

test("the organization has pages of its own, and built-in roles are only shown", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/access/roles", "Roles");
  await page.getByLabel("Scope").selectOption("Organization Default");
  await page.waitForURL(/\/account\/organizations\/default\/access\/roles$/);
  await page.getByRole("link", { name: "Organization Viewer" }).click();
  await page.getByRole("heading", { name: "Organization Viewer", level: 1 }).waitFor();
  await page.getByText("Built in").waitFor();
  assert.equal(await page.getByRole("checkbox").count(), 0);
  await assertWellMade();
  await open("/account/organizations/default/access/resource-groups", "Resource groups");
  await page.getByRole("link", { name: "All Organization Level Resources" }).waitFor();
  await assertWellMade();
  assert.deepEqual(complaints(), []);
});

test("what stops with a user is adopted before the user leaves", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  const owner = await platform.addUser("_account_admin");
  const ofOwner: WebTest["platform"] = {
    ...platform,
    send: (method, path, options) => platform.send(method, path, { apiKey: owner, ...options }),
  };
  await createTargets(platform);
  await made(create.pipeline(ofOwner, pipelineYaml()));
  await made(create.trigger(ofOwner, "deploy", triggerYaml()));
  const { uuid, name } = await made(platform.send("GET", "/ng/api/user/currentUser", { apiKey: owner }));
  await open(`/account/access/users?show=${uuid}`, "Users");
  await page.getByRole("button", { name: "Deactivate" }).click();
  await page.getByRole("dialog").getByText("2 resources of this user").waitFor();
  await page.getByRole("link", { name: "Adopt them first" }).click();
  await page.getByRole("heading", { name: "Ownership", level: 1 }).waitFor();
  await page.getByRole("row", { name: /Trigger/ }).waitFor();
  assert.equal(await page.getByRole("combobox", { name: "User" }).inputValue(), name);
  await page.getByRole("checkbox", { name: "Select all rows" }).check();
  await assertWellMade();
  await page.getByRole("button", { name: "Adopt 2 resources" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Adopt" }).click();
  await page.getByText("Nothing stops").waitFor();
  const path = `/pipeline/api/ownership?principalType=USER&principalIdentifier=`;
  const { resources } = await send<{ resources: { totalItems: number } }>(
    "GET",
    `${path}${await userId("admin@railhead.local")}`,
  );
  assert.equal(resources.totalItems, 2);
  await assertWellMade();
  assert.deepEqual(complaints(), []);
});

test("names that contain markup stay text, and a long one fits", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  const name = `<img src=x onerror=alert(1)> ${"long".repeat(50)}`;
  await platform.db.query("update users set name = $1 where email = 'maria@example.com'", [name]);
  for (const [path, title] of [
    ["users", "Users"],
    ["permissions", "Who can do what"],
  ] as const) {
    await open(`${SHOP}/${path}`, title);
    await page.getByRole("link", { name: /<img src=x/ }).click();
    await page.getByRole("dialog").getByText("Roles in this project").waitFor();
    assert.equal(await page.locator("main img, dialog img").count(), 0);
    await assertWellMade();
  }
  assert.deepEqual(complaints(), []);
});

test("who may only view is offered no change, and who may see nothing no page", { skip }, async () => {
  const { page, open, platform, signIn, complaints } = web;
  await platform.addUser("_account_viewer");
  const [viewer] = await platform.db.query<{ email: string }>(
    "select email from users where name like 'user %' order by id desc",
  );
  await signIn(viewer?.email);
  for (const [path, title] of [
    ["users", "Users"],
    ["groups", "Groups"],
    ["service-accounts", "Service accounts"],
    ["roles", "Roles"],
    ["resource-groups", "Resource groups"],
    ["permissions", "Who can do what"],
  ] as const) {
    await open(`${SHOP}/${path}`, title);
    await page.locator("tbody tr:not(:has([class*=skeleton]))").first().waitFor();
    assert.equal(await page.getByRole("button", { name: /^(New|Invite|Assign)/ }).count(), 0, title);
    assert.equal(await page.getByRole("link", { name: /^New/ }).count(), 0, title);
  }
  await open("/account/access/users", "Users");
  await page.getByRole("link", { name: "admin", exact: true }).click();
  await page.getByRole("dialog").getByText("Account Admin").waitFor();
  assert.equal(await page.getByRole("button", { name: /Assign|Remove|Deactivate|Invitation|One-time/ }).count(), 0);
  await platform.db.query("delete from role_assignments where principal_identifier <> $1", [
    await userId("admin@railhead.local"),
  ]);
  platform.clock.advance(1_000);
  await open("/tools/api", "API reference");
  await page.getByRole("link", { name: "GraphQL", exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: /Access|Ownership/ }).count(), 0);
  assert.deepEqual(complaints(), []);
});

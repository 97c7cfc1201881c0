/** Settings with their origin, the mail server, and organizations. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { made } from "../support/contract.ts";
import { startMailServer, type MailServer } from "../support/services/mail-server.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const HOSTILE = `<img src=x onerror=alert(1)> \u202Edesrever ${"long".repeat(40)}`;
const PROJECT = "/projects/default/shop";

let web: WebTest;
let mail: MailServer;
before(async () => {
  if (skip) return;
  mail = await startMailServer({ security: "none" });
  web = await startWeb({ allowPrivateAddresses: ["127.0.0.0/8"] });
  const project = { identifier: "shop", name: "Shop", orgIdentifier: "default" };
  await send("POST", "/ng/api/projects?orgIdentifier=default", { project });
});
after(async () => {
  await web?.stop();
  await mail?.stop();
});

const send = (method: string, path: string, body: object) =>
  made(web.platform.send(method, path, { body: JSON.stringify(body), contentType: "application/json" }));

/** The value that counts for the project. */
async function valueOf(identifier: string): Promise<string> {
  const scope = "orgIdentifier=default&projectIdentifier=shop";
  return (await made(web.platform.send("GET", `/ng/api/settings/${identifier}?${scope}`))).value;
}

test("a setting of the account is inherited, overridden in a project and restored", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/settings", "Settings");
  await page.getByLabel("Executions of a project that run at the same time").fill("many");
  await page.getByLabel("Days that the logs of ended executions are kept").fill("45");
  const unsaved = page.getByRole("region", { name: "Unsaved changes" });
  await unsaved.getByText("2 settings are changed and not saved.").waitFor();
  await assertAccessible(page);
  await unsaved.getByRole("button", { name: "Save settings" }).click();
  // One entry is refused and stays, with its reason; the other one is saved.
  await page.getByText("It must be a whole number from 0 to 999999999.").waitFor();
  await unsaved.getByText("1 setting is changed and not saved.").waitFor();
  assert.equal(await valueOf("log_retention_days"), "45");
  await page.getByLabel("Executions of a project that run at the same time").fill("7");
  await unsaved.getByRole("button", { name: "Save settings" }).click();
  await unsaved.waitFor({ state: "hidden" });
  await open(`${PROJECT}/settings`, "Settings");
  const row = page.getByRole("listitem").filter({ hasText: "Executions of a project" });
  await row.getByText("Set for the account").waitFor();
  await row.getByRole("textbox").fill("3");
  await page.getByRole("button", { name: "Save settings" }).click();
  await row.getByText("Set here").waitFor();
  assert.equal(await valueOf("concurrent_executions_per_project"), "3");
  await assertAccessible(page);
  await row.getByRole("button", { name: /^Use the inherited value/ }).click();
  await row.getByText("Set for the account").waitFor();
  assert.equal(await row.getByRole("textbox").inputValue(), "7");
  assert.equal(await valueOf("concurrent_executions_per_project"), "7");
  await assertFitsNarrow(page);
  assert.deepEqual(complaints(), []);
});

test("what the account fixes cannot be changed below it", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/settings", "Settings");
  const row = page.getByRole("listitem").filter({ hasText: "Custom webhooks ask for an API key" });
  await row.getByRole("combobox").selectOption("Yes");
  await row.getByRole("checkbox").uncheck();
  await page.getByRole("button", { name: "Save settings" }).click();
  await row.getByText("Set here").waitFor();
  await assertFitsNarrow(page);
  await open("/account/organizations", "Organizations");
  await page.getByRole("button", { name: /^Actions of/ }).click();
  await page.getByRole("menuitem", { name: "Settings" }).click();
  await row.getByText("A scope above this one allows no other value.").waitFor();
  assert.equal(await row.getByRole("combobox").count(), 0);
  await row.getByText("Yes", { exact: true }).waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints(), []);
});

test("the mail server is set up, tested and deleted", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/settings/mail", "Mail");
  await page.getByText("No mail server yet").waitFor();
  await page.getByRole("button", { name: "Set up mail" }).click();
  const dialog = page.getByRole("dialog", { name: "Set up mail" });
  await dialog.getByLabel("Host").fill("127.0.0.1");
  await dialog.getByLabel("Security").selectOption({ label: "None, mails can be read on their way" });
  assert.equal(await dialog.getByLabel("Port").inputValue(), "25");
  await dialog.getByLabel("Port").fill(String(mail.port));
  await dialog.getByLabel("Sender").fill("ci@example.com");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(`127.0.0.1:${mail.port}`).waitFor();
  await page.getByLabel("Send a test mail to").fill("ada@example.com");
  await page.getByRole("button", { name: "Send test mail" }).click();
  await page.getByText("The mail server took the mail to ada@example.com.").waitFor();
  assert.deepEqual(mail.received[0]?.to, ["ada@example.com"]);
  await page.getByLabel("Send a test mail to").fill("unknown@example.com");
  await page.getByRole("button", { name: "Send test mail" }).click();
  await page.getByText(/no such mailbox/).waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit the mail server" });
  await send("PUT", "/ng/api/smtpConfig", {
    name: "Changed meanwhile",
    value: { host: "127.0.0.1", port: mail.port, fromAddress: "ci@example.com" },
  });
  await edit.getByLabel("Name", { exact: true }).fill("Mine");
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.getByText(/changed meanwhile\. Close this dialog/).waitFor();
  complaints(); // the refusal of the stale version
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByText("Changed meanwhile").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete mail server" }).click();
  await page.getByText("No mail server yet").waitFor();
  assert.deepEqual(complaints(), []);
});

test("an organization is created, leads to its projects, and is deleted when it has none", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await open("/account/organizations", "Organizations");
  await page.getByRole("button", { name: "New organization" }).click();
  const dialog = page.getByRole("dialog", { name: "New organization" });
  await dialog.getByLabel("Name").fill("Retail");
  await dialog.getByLabel("Description").fill("Shops");
  await dialog.getByRole("button", { name: "Create organization" }).click();
  await page.getByRole("link", { name: "Retail" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Retail" }).click();
  await page.waitForURL(/\/account\/projects\?org=Retail/);
  await page.getByText("No projects yet").waitFor();
  await page.getByRole("button", { name: "New project" }).first().click();
  const create = page.getByRole("dialog", { name: "New project" });
  await create.getByLabel("Name").fill("Till");
  await create.getByRole("button", { name: "Create project" }).click();
  await page.waitForURL(/\/projects\/Retail\/Till/);
  await platform.db.query("update organizations set name = $1, description = $1 where identifier = 'Retail'", [
    HOSTILE,
  ]);
  await open("/account/organizations?q=onerror", "Organizations");
  await page.getByRole("link", { name: /onerror/ }).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  const remove = async (): Promise<void> => {
    await page.getByRole("button", { name: /^Actions of/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("Retail");
    await page.getByRole("dialog").getByRole("button", { name: "Delete organization" }).click();
  };
  await remove();
  await page
    .getByRole("dialog")
    .getByRole("alert")
    .getByText(/project/)
    .waitFor();
  complaints(); // the refusal
  await platform.send("DELETE", "/ng/api/projects/Till?orgIdentifier=Retail");
  await page.keyboard.press("Escape");
  await remove();
  await page.getByText("Nothing matches “onerror”.").waitFor();
  assert.deepEqual(complaints(), []);
});

test("who may only see settings is offered no change", { skip }, async () => {
  const { page, open, platform, signIn, complaints } = web;
  await platform.addUser("_account_viewer");
  const [viewer] = await platform.db.query<{ email: string }>("select email from users where name like 'user %'");
  await signIn(viewer?.email);
  await open("/account/settings", "Settings");
  await page.getByRole("listitem").filter({ hasText: "Days that the logs" }).getByText("45").waitFor();
  assert.equal(await page.locator("main").getByRole("textbox").count(), 0);
  assert.equal(await page.getByRole("button", { name: /Restore|Save/ }).count(), 0);
  await page.getByRole("link", { name: "Mail" }).click();
  await page.getByText("No mail server yet").waitFor();
  assert.equal(await page.getByRole("button", { name: "Set up mail" }).count(), 0);
  await open("/account/organizations", "Organizations");
  assert.equal(await page.getByRole("button", { name: "New organization" }).count(), 0);
  assert.deepEqual(complaints(), []);
});

/** The audit trail: find who changed what, see the difference, and take the trail along. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fromWire } from "../../src/core/ids.ts";
import { until } from "../support/until.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const HOSTILE = `<img src=x onerror=alert(1)> \u202Edesrever ${"long".repeat(40)}`;

let web: WebTest;
let jobs: { readonly stop: () => Promise<void> } | undefined;
before(async () => {
  if (skip) return;
  web = await startWeb();
  // One of them writes refused attempts.
  jobs = web.platform.platform.startJobs();
});
after(async () => {
  await jobs?.stop();
  await web?.stop();
});

async function saveProject(method: "POST" | "PUT", identifier: string, description: string, apiKey?: string) {
  const project = { identifier, name: identifier, orgIdentifier: "default", description };
  return web.platform.send(
    method,
    `/ng/api/projects${method === "PUT" ? `/${identifier}` : ""}?orgIdentifier=default`,
    { body: JSON.stringify({ project }), contentType: "application/json", ...(apiKey && { apiKey }) },
  );
}

test("a change is found by filters in the address, with its difference and a link that lasts", { skip }, async () => {
  const { page, open, complaints } = web;
  await saveProject("POST", "shop", "sells boots");
  await saveProject("PUT", "shop", "sells sandals");
  await saveProject("POST", "garage", "mends cars");
  await open("/account/audit", "Audit trail");
  await page.getByRole("link", { name: "Create project garage" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("menuitem", { name: "Action" }).click();
  await page.getByRole("checkbox", { name: "Update" }).check();
  await page.keyboard.press("Escape");
  await page.waitForURL(/action=/);
  await page.getByRole("link", { name: "Create project garage" }).waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search entries" }).fill("SHO");
  await page.waitForURL(/q=SHO/);
  await page.getByRole("link", { name: "Update project shop" }).click();
  const panel = page.getByRole("dialog", { name: "Update project" });
  await panel.getByRole("cell", { name: "Removed: description: sells boots" }).waitFor();
  await panel.getByRole("cell", { name: "Added: description: sells sandals" }).waitFor();
  await panel.getByText("PUT /ng/api/projects/shop").waitFor();
  await assertAccessible(page);
  const link = new URL(page.url());
  // The link leads to the entry also where no filter finds it.
  await page.goto(`${link.origin}/account/audit?q=nothing&entry=${link.searchParams.get("entry")}`);
  await panel.getByRole("cell", { name: "Added: description: sells sandals" }).waitFor();
  await panel.getByRole("button", { name: "All of this project" }).click();
  await page.getByRole("link", { name: "Create project shop" }).waitFor();
  await page.getByRole("link", { name: "Update project shop" }).waitFor();
  assert.equal(await page.getByRole("link", { name: /garage/ }).count(), 0);
  await page.getByRole("link", { name: "Update project shop" }).click();
  await panel.getByRole("link", { name: "shop" }).click();
  await page.getByRole("heading", { name: "shop", level: 1 }).waitFor();
  assert.deepEqual(complaints(), []);
});

test(
  "a refused attempt tells the missing permission; the page of a project has its own entries",
  { skip },
  async () => {
    const { page, open, platform, complaints } = web;
    const viewer = await platform.addUser("_account_viewer");
    assert.equal((await saveProject("PUT", "shop", "is mine", viewer)).status, 403);
    await until(
      () => platform.db.query("select from audit_entries where outcome = 'refused'"),
      (entries) => entries.length > 0,
    );
    await open("/account/audit?outcome=REFUSED", "Audit trail");
    await page.getByRole("link", { name: "Update project shop" }).click();
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("core_project_edit was missing").waitFor();
    await assertFitsNarrow(page);
    await open("/projects/default/shop/secrets", "Secrets");
    await page.getByRole("region", { name: "Project" }).getByRole("link", { name: "Audit trail" }).click();
    await page.getByRole("link", { name: "Update project shop" }).first().waitFor();
    assert.equal(await page.getByRole("link", { name: /garage|session/ }).count(), 0);
    assert.equal(await page.getByRole("button", { name: "Export" }).count(), 0);
    await assertAccessible(page);
    assert.deepEqual(complaints(), []);
  },
);

test("hostile names stay text; a long trail has pages", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await platform.db.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id, outcome, code, attempts)
     select $1, gen_random_uuid(), $2::bigint - n, 'anonymous', $3, 'project.create', 'PROJECT', $3, 'refused', $3, 7
       from generate_series(1, 120) n`,
    [fromWire(platform.accountId), Date.now(), HOSTILE],
  );
  await open("/account/audit?q=onerror", "Audit trail");
  await page.getByText("1–50 of 120").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.getByRole("button", { name: "Next page" }).click();
  await page.waitForURL(/page=2/);
  await page.getByText("51–100 of 120").waitFor();
  await page
    .getByRole("link", { name: /onerror/ })
    .first()
    .click();
  await page.getByRole("dialog").getByText("stands for 7 equal attempts").waitFor();
  await assertFitsNarrow(page);
  await assertAccessible(page);
  assert.deepEqual(complaints(), []);
});

test("the export has one line for each entry of the days", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/audit", "Audit trail");
  const exportTrail = async (from: string): Promise<readonly { readonly action: string }[]> => {
    await page.getByRole("button", { name: "Export" }).click();
    const dialog = page.getByRole("dialog", { name: "Export the audit trail" });
    await dialog.getByLabel("From").fill(from);
    await assertAccessible(page);
    const downloaded = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Export" }).click();
    const text = await readFile(await (await downloaded).path(), "utf8");
    await dialog.waitFor({ state: "hidden" });
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { readonly action: string }]));
  };
  const all = await exportTrail("");
  assert.ok(all.length > 120);
  assert.ok(all.some(({ action }) => action === "UPDATE"));
  assert.equal((await exportTrail("2999-01-01")).length, 0);
  assert.deepEqual(complaints(), []);
});

test("who may not read the trail is not offered it", { skip }, async () => {
  const { page, open, platform, signIn, complaints } = web;
  const before = await platform.db.query<{ email: string }>("select email from users");
  await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  const users = await platform.db.query<{ email: string }>("select email from users");
  const added = users.find(({ email }) => before.every((one) => one.email !== email));
  await signIn(added?.email);
  await open("/projects/default/shop/pipelines", "Pipelines");
  await page.getByRole("link", { name: "Executions" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Audit trail" }).count(), 0);
  assert.deepEqual(complaints(), []);
});

/** Delegates: what an operator sees of them, decides about them, and gives them to start with. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire } from "../../src/core/ids.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const HOSTILE = `<img src=x onerror=alert(1)> \u202Edesrever ${"long".repeat(20)}`;

let web: WebTest;
before(async () => {
  if (!skip) web = await startWeb({ delegate: true });
});
after(() => web?.stop());

/** Registers delegates that have never connected. */
async function register(names: readonly string[], status: "ENABLED" | "WAITING_FOR_APPROVAL"): Promise<void> {
  await web.platform.db.query(
    `insert into delegates (account_id, id, token_id, name, identity_hash, tags, declared_tags, host, version, boot_id, slots, seen_at, created_at, status)
     select t.account_id, gen_random_uuid(), t.id, one, decode(md5(one), 'hex'), array[$4, 'linux'], '{}', $4, '0.1.0', '', 4, 0, 0, $3
       from (select * from delegate_tokens where account_id = $1 limit 1) t, unnest($2::text[]) as n (one)`,
    [fromWire(web.platform.accountId), names, status, HOSTILE],
  );
}

test("a connected delegate gets tags, which the list shows without a reload", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/delegates", "Delegates");
  await page.getByText("1 of 1 connected").waitFor();
  await page.getByRole("link", { name: "real", exact: true }).click();
  const panel = page.getByRole("dialog", { name: "real" });
  await panel.getByText("0 of 4 in use").waitFor();
  await assertAccessible(page);
  await panel.getByRole("button", { name: "Edit tags" }).click();
  const edit = page.getByRole("dialog", { name: "Tags of real" });
  await edit.getByLabel("Tags").fill("linux, eu");
  await edit.getByRole("button", { name: "Save tags" }).click();
  await panel.getByText("eu", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
  await page.getByRole("list", { name: "Delegates" }).getByText("eu", { exact: true }).waitFor();
  assert.deepEqual(complaints(), []);
});

test("a waiting delegate is approved, another one is rejected", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await register(["waits-1", "waits-2"], "WAITING_FOR_APPROVAL");
  await open("/account/delegates?status=waiting", "Delegates");
  await page.getByRole("link", { name: "waits-1" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Delegate waits-1 was approved.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "waits-2" }).click();
  await page.getByRole("button", { name: "Reject" }).click();
  await page
    .getByRole("dialog", { name: /Reject/ })
    .getByRole("button", { name: "Reject delegate" })
    .click();
  await page.getByText("No delegate matches the filters.").waitFor();
  const rows = await platform.db.query<{ name: string; status: string }>(
    "select name, status from delegates where name like 'waits%' order by name",
  );
  assert.deepEqual(
    rows.map(({ name, status }) => [name, status]),
    [
      ["waits-1", "ENABLED"],
      ["waits-2", "DELETED"],
    ],
  );
  assert.deepEqual(complaints(), []);
});

test("of 500 delegates only the visible ones are in the page; hostile hosts and tags stay text", { skip }, async () => {
  const { page, open, complaints } = web;
  await register(
    Array.from({ length: 500 }, (_, index) => `fleet-${index}`),
    "ENABLED",
  );
  await open("/account/delegates", "Delegates");
  await page.getByText(/of 502 connected/).waitFor();
  assert.ok((await page.locator("main li").count()) < 100);
  assert.equal(await page.locator("main img").count(), 0);
  await page.getByRole("searchbox", { name: "Search delegates" }).fill("fleet-499");
  await page.getByRole("link", { name: "fleet-499" }).waitFor();
  await page.waitForURL(/q=fleet-499/);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.getByRole("link", { name: "fleet-499" }).click();
  await page.getByRole("dialog").getByText("Running tasks").waitFor();
  await assertFitsNarrow(page);
  assert.deepEqual(complaints(), []);
});

test("the command that starts a delegate has its token, which is shown once", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await open("/account/delegates", "Delegates");
  await page.getByRole("button", { name: "Add a delegate" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("build-7");
  await dialog.getByLabel("Tags").fill("linux");
  await dialog.getByRole("button", { name: "Create token and command" }).click();
  const command = await dialog.getByRole("group", { name: "Command that starts the delegate" }).innerText();
  assert.match(
    command,
    new RegExp(`^RAILHEAD_DELEGATE_TOKEN='dlg\\.${platform.accountId}\\.\\S+' npx .* --name build-7`),
  );
  assert.match(command, /--tag linux/);
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByRole("cell", { name: "build-7", exact: true }).waitFor();
  assert.doesNotMatch(await page.content(), /dlg\./);
  await page.getByRole("button", { name: "Actions of build-7" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByText("No delegate uses it.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
  await page
    .getByRole("row", { name: /build-7/ })
    .getByText("Revoked")
    .waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  assert.deepEqual(complaints(), []);
});

test("who may only see delegates is offered no change", { skip }, async () => {
  const { page, open, platform, signIn, complaints } = web;
  await platform.addUser("_account_viewer");
  const [viewer] = await platform.db.query<{ email: string }>("select email from users where name like 'user %'");
  await signIn(viewer?.email);
  await open("/account/delegates?q=real", "Delegates");
  await page.getByRole("link", { name: "real", exact: true }).click();
  await page.getByRole("dialog").getByText("Running tasks").waitFor();
  assert.equal(await page.getByRole("button", { name: /Add a delegate|Edit tags|Delete|Approve/ }).count(), 0);
  await open("/account/delegates/tokens", "Delegate tokens");
  await page.getByRole("cell", { name: "build-7", exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: /New token|Actions of/ }).count(), 0);
  assert.deepEqual(complaints(), []);
});

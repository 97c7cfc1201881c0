/** The profile: password, sessions, API keys and linked identities of the user. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADMIN, createSession, linkIdentities, PASSWORD } from "../support/sessions.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

let web: WebTest;
before(async () => {
  if (!skip) web = await startWeb();
});
after(() => web?.stop());

test("a token is shown once, works, is rotated and deleted", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await open("/profile", "admin");
  await page.getByRole("button", { name: "New API key with a token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name of the API key").fill("Laptop");
  await dialog.getByLabel("Name of the token").fill("June");
  await dialog.getByLabel("Expires on").fill("2026-06-30");
  await dialog.getByText("Write the date as mm/dd/yyyy").waitFor();
  await assertAccessible(page);
  const year = new Date().getUTCFullYear() + 1;
  await dialog.getByLabel("Expires on").fill(`06/30/${year}`);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const value = await dialog.getByRole("group", { name: "Token" }).locator("code").innerText();
  const works = async (apiKey: string): Promise<number> =>
    (await platform.send("GET", "/ng/api/user/currentUser", { apiKey })).status;
  assert.equal(await works(value), 200);
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row", { name: new RegExp(`June.*06/30/${year}`) }).waitFor();
  assert.ok(!(await page.content()).includes(value));
  await page.getByRole("button", { name: "Actions of June" }).click();
  await page.getByRole("menuitem", { name: "Rotate" }).click();
  await dialog.getByLabel("The old text ends").selectOption("at once");
  await dialog.getByRole("button", { name: "Rotate token" }).click();
  const rotated = await dialog.getByRole("group", { name: "Token" }).locator("code").innerText();
  assert.deepEqual([await works(value), await works(rotated)], [401, 200]);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Delete key Laptop" }).click();
  await dialog.getByLabel(/to confirm/).fill("Laptop");
  await dialog.getByRole("button", { name: "Delete API key" }).click();
  await page.getByText("API key Laptop was deleted.").waitFor();
  assert.equal(await works(rotated), 401);
  await assertFitsNarrow(page);
  assert.deepEqual(complaints(), []);
});

test("another session is ended; this one stays", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  const other = await createSession(platform, ADMIN);
  await open("/profile?tab=sessions", "admin");
  await page.getByText("This session").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  const buttons = page.getByRole("button", { name: "End session" });
  await buttons.first().click();
  await buttons.waitFor({ state: "hidden" });
  const answer = await fetch(`${platform.url}/auth/session`, { headers: other.headers });
  const { data } = (await answer.json()) as { readonly data: { readonly signedIn: boolean } };
  assert.equal(data.signedIn, false);
  assert.deepEqual(complaints(), []);
});

test("an identity is unlinked", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await linkIdentities(platform);
  await open("/profile?tab=identities", "admin");
  await page.getByRole("row", { name: /one/ }).getByRole("button", { name: "Unlink" }).click();
  await assertAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Unlink identity" }).click();
  await page.getByText("The identity was unlinked.").waitFor();
  const rows = await platform.db.query<{ subject: string }>("select subject from user_identities");
  assert.deepEqual(rows, [{ subject: "two" }]);
  assert.deepEqual(complaints(), []);
});

test("the password is changed; the page stays signed in", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/profile?tab=password", "admin");
  const change = async (current: string, next: string): Promise<void> => {
    await page.getByLabel("Current password").fill(current);
    await page.getByLabel("New password", { exact: true }).fill(next);
    await page.getByLabel("New password, again").fill(next);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  await change(PASSWORD, "abcabcabcabc");
  await page.getByRole("alert").waitFor();
  await assertAccessible(page);
  await change(PASSWORD, "seven grey herons at dusk");
  await page.getByText("The password was changed.").waitFor();
  complaints(); // the refusal of the first one
  await page.getByRole("tab", { name: "Sessions" }).click();
  await page.getByText("This session").waitFor();
  assert.deepEqual(complaints(), []);
});

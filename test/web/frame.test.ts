/** What surrounds every page of the web interface: sign-in, navigation, palette, theme and the end of a session. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../support/contract.ts";
import { PASSWORD } from "../support/sessions.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb();
  await made(create.project(web.platform, projectYaml()));
});
after(() => web?.stop());

test("without a session the page leads to sign-in and comes back to the same address", { skip }, async () => {
  const { page, platform, browser } = web;
  await browser.context.clearCookies();
  await page.goto(`${platform.url}/account/projects?q=shop`);
  await page.waitForURL((url) => url.pathname === "/login");
  await page.getByLabel("E-mail").fill("admin@railhead.local");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.waitForURL((url) => url.pathname === "/account/projects" && url.search === "?q=shop");
});

test("sign-in without an address to return to leads to the overview", { skip }, async () => {
  const { page, platform, browser } = web;
  await browser.context.clearCookies();
  await page.goto(`${platform.url}/login`);
  await page.getByLabel("E-mail").fill("admin@railhead.local");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.waitForURL(`${platform.url}/`);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  // Who is signed in finds nothing to do on the sign-in page.
  await page.goto(`${platform.url}/login`);
  await page.waitForURL(`${platform.url}/`);
});

test("the navigation names the project and its pages, and the palette finds them by keyboard", { skip }, async () => {
  const { page, platform } = web;
  await page.goto(`${platform.url}/projects/default/shop`);
  const navigation = page.getByRole("navigation", { name: "Main" });
  await navigation.getByRole("link", { name: "Pipelines" }).waitFor();
  // The pages of the account are closed beside those of a project, until they are opened.
  assert.equal(await navigation.getByRole("link", { name: "Delegates" }).count(), 0);
  await navigation.getByRole("button", { name: "Account" }).click();
  await navigation.getByRole("link", { name: "Delegates" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /Search pages/ }).waitFor();
  await page.keyboard.type("delega");
  await page.getByRole("option", { name: /Delegates/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${platform.url}/account/delegates`);
  // Also pages that have no link in the navigation.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("no page has this name");
  await page.getByRole("status").getByText("Nothing has this name.").waitFor();
  await page.getByRole("combobox", { name: /Search pages/ }).fill("scim");
  await page.getByRole("option", { name: /SCIM/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${platform.url}/account/settings/scim`);
});

test("the frame has no accessibility faults, and fits a narrow screen", { skip }, async () => {
  const { page, open } = web;
  await open("/account/none", "There is no such page");
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: "Open navigation" }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Delegates" }).waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 1280, height: 720 });
});

test("a session that ends is renewed above the page, which is not loaded anew", { skip }, async () => {
  const { page, platform, complaints } = web;
  await page.goto(`${platform.url}/projects/default/shop`);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Pipelines" }).waitFor();
  await page.evaluate("globalThis.kept = true");
  await platform.db.query("delete from sessions");
  platform.clock.advance(2_000);
  // The page follows a stream, which ends with the session.
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.getByText("Sign in to continue, or leave this page.").waitFor();
  await dialog.getByLabel(/Password of/).fill("wrong password");
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await dialog.getByText("The e-mail or the password is wrong.").waitFor();
  await assertAccessible(page);
  await dialog.getByLabel(/Password of/).fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
  assert.equal(await page.evaluate("globalThis.kept"), true);
  complaints();
});

test("the chosen theme stays, and signing out leads to the sign-in page", { skip }, async () => {
  const { page, platform, complaints } = web;
  await page.goto(`${platform.url}/projects/default/shop`);
  complaints();
  await page.getByRole("button", { name: /admin@railhead.local/ }).click();
  await page.getByRole("menuitemcheckbox", { name: "Dark" }).click();
  await page.reload();
  assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
  await page.getByRole("button", { name: /admin@railhead.local/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL((url) => url.pathname === "/login");
  assert.deepEqual(await platform.db.query("select 1 from sessions"), []);
});

test("no request left the server, and the browser reported nothing", { skip }, () => {
  for (const url of web.browser.requested) assert.ok(url.startsWith(`${web.platform.url}/`), url);
});

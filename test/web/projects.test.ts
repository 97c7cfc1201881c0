/** The list of projects: the model of every numbered list. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const HOSTILE = `<img src=x onerror=alert(1)> \u202Ereversed ${"long".repeat(20)}`;

let web: WebTest;
before(async () => {
  if (!skip) web = await startWeb();
});
after(() => web?.stop());

test("an empty list says what a project is, and creates the first one, whose page opens", { skip }, async () => {
  const { page, open, platform } = web;
  await open("/account/projects", "Projects");
  await page.getByText("No projects yet").waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "New project" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New project" });
  await dialog.getByLabel("Name").fill("Web shop");
  assert.equal(await dialog.getByLabel("Identifier").inputValue(), "Web_shop");
  await dialog.getByLabel("Identifier").fill("not allowed!");
  await dialog.getByRole("button", { name: "Create project" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Identifier").fill("shop");
  await dialog.getByRole("button", { name: "Create project" }).click();
  await page.waitForURL(`${platform.url}/projects/default/shop`);
  await page.getByRole("heading", { name: "Web shop", level: 1 }).waitFor();
  web.complaints(); // the refusal of the identifier
});

test("names stay text; text and page of the list are in the address", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  for (let number = 0; number < 55; number += 1) {
    const project = {
      identifier: `p${number}`,
      name: `Project ${number}`,
      orgIdentifier: "default",
    };
    const body = JSON.stringify({ project });
    const { status, text } = await platform.send("POST", "/ng/api/projects?orgIdentifier=default", {
      body,
      contentType: "application/json",
    });
    assert.equal(status, 200, text);
  }
  // The API takes plain names only; pages do not rely on it.
  await platform.db.query("update projects set name = $1 where identifier = 'p7'", [HOSTILE]);
  await open("/account/projects?q=reversed", "Projects");
  // The mark that turns the direction of the text is shown instead of followed.
  await page.getByRole("link", { name: /onerror.*<202E>reversed/ }).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertFitsNarrow(page);
  await page.getByRole("searchbox", { name: "Search projects" }).fill("");
  await page.waitForURL(`${platform.url}/account/projects`);
  await page.getByRole("button", { name: "Next page" }).click();
  await page.waitForURL(`${platform.url}/account/projects?page=2`);
  await page.getByText("51–56 of 56").waitFor();
  await page.reload();
  await page.getByText("51–56 of 56").waitFor();
  await page.getByRole("searchbox", { name: "Search projects" }).fill("nothing like it");
  await page.getByText("Nothing matches “nothing like it”.").waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints(), []);
});

test("deleting asks for the identifier", { skip }, async () => {
  const { page, open, platform } = web;
  await open("/account/projects?q=shop", "Projects");
  await page.getByRole("button", { name: "Actions of Web shop" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete project Web shop?" });
  await dialog.getByRole("textbox").fill("shop");
  await dialog.getByRole("button", { name: "Delete project" }).click();
  await page.getByText("Project Web shop was deleted.").waitFor();
  const { body } = await platform.send("GET", "/ng/api/projects?searchTerm=shop");
  assert.equal(body.data.totalItems, 0);
});

test("a reader is offered no changes", { skip }, async () => {
  const { page, open, platform, browser, signIn } = web;
  await platform.addUser("_account_viewer");
  const [user] = await platform.db.query<{ email: string }>(
    "select email from users where email <> 'admin@railhead.local'",
  );
  await browser.context.clearCookies();
  await signIn(user?.email);
  await open("/account/projects", "Projects");
  await page.getByRole("link", { name: "Project 0", exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New project" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /Actions of/ }).count(), 0);
});

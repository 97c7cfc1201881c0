/** The GraphQL explorer and the API reference inside the web interface. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../support/contract.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb();
  await made(create.project(web.platform, projectYaml()));
});
after(() => web?.stop());

test("a GraphQL document runs with the session, and the schema completes it", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/tools/graphql", "GraphQL");
  const editor = page.getByRole("textbox", { name: "Document" });
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("{ applicat");
  await page.getByRole("option", { name: /^applications/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("{ applications(limit: 5) { nodes { name } } }");
  // Replacing the selection at once makes the browser add a style attribute, which the policy refuses.
  complaints();
  await page.keyboard.press("Control+Enter");

  await page.getByRole("region", { name: "Answer" }).getByText("The shop").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.reload();
  await page.getByText("applications(limit: 5)").waitFor();
  assert.deepEqual(complaints(), []);
});

test("the reference finds an operation, shows it under an address of its own, and sends it", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await open("/tools/api", "API reference");
  await page.getByRole("searchbox", { name: "Search operations" }).fill("projects list");
  await page
    .getByRole("link", { name: /^GET List projects/ })
    .first()
    .click();
  await page.waitForURL((url) => url.searchParams.get("operation")?.startsWith("project.list") ?? false);
  await page.goto(`${platform.url}/tools/api?operation=project.get`);
  await page.getByLabel("orgIdentifier").fill("default");
  await page.getByLabel("identifier", { exact: true }).fill("shop");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Answer" }).getByText('"The shop"').waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  assert.deepEqual(complaints(), []);
  await page.getByLabel("identifier", { exact: true }).fill("none");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Answer" }).getByText("404 ").waitFor();
});

/** Input sets of a pipeline: written in the editor, kept from the form to run, and used there. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../support/contract.ts";
import { assertAccessible, assertFitsNarrow, replaceText, skip, startWeb, type WebTest } from "../support/web.ts";

const PIPELINE = "/projects/default/shop/pipelines/ask";
const OF_PIPELINE = "orgIdentifier=default&projectIdentifier=shop&pipelineIdentifier=ask";
const HOSTILE = `<img src=x onerror=alert(1)> \u202Edesrever ${"long".repeat(40)}`;

const ASKING = [
  "pipeline:",
  "  name: Ask",
  "  identifier: ask",
  "  variables:",
  "    - { name: size, type: String, value: '<+input>.allowedValues(small,large)' }",
  "    - { name: count, type: Number, value: '<+input>.default(2)' }",
  "  stages:",
  "    - stage:",
  "        name: Build",
  "        identifier: build",
  "        type: Custom",
  "        spec:",
  "          execution:",
  "            steps:",
  "              - step:",
  "                  type: ShellScript",
  "                  name: Say",
  "                  identifier: say",
  "                  spec: { shell: Bash, source: { type: Inline, spec: { script: 'true' } } }",
  "",
].join("\n");

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb();
  await made(create.project(web.platform, projectYaml()));
  await made(create.pipeline(web.platform, ASKING));
});
after(() => web?.stop());

const editor = (noun: string) => web.page.getByRole("textbox", { name: `Document of the ${noun}` });
const write = (noun: string, text: string): Promise<void> => replaceText(editor(noun), text);

const set = (size: string): string =>
  [
    "inputSet:",
    "  name: Large",
    "  identifier: large",
    "  pipeline:",
    "    identifier: ask",
    "    variables:",
    `      - { name: size, type: String, value: ${size} }`,
    "",
  ].join("\n");

const sets = async (): Promise<readonly string[]> => {
  const { content } = await made(web.platform.send("GET", `/pipeline/api/inputSets?${OF_PIPELINE}`));
  return content.map(({ identifier }: { identifier: string }) => identifier);
};

test("a new set begins with the inputs of the pipeline; a refused value has its place", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(PIPELINE, "Ask");
  await page.getByRole("link", { name: "Input sets" }).click();
  await page.getByText("No input sets yet").waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "New input set" }).first().click();
  await page.getByRole("heading", { name: "New input set", level: 1 }).waitFor();
  await editor("input set").getByText("name: size").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await write("input set", set("huge"));
  await page.getByRole("button", { name: "Create input set" }).click();
  await page.getByRole("alert").filter({ hasText: "The input set was not saved" }).waitFor();
  await page.locator(".cm-lintRange-error").first().waitFor();
  await write("input set", set("large"));
  await page.getByRole("button", { name: "Create input set" }).click();
  await page.getByText("The input set Large was created.").waitFor();
  await page.getByRole("table", { name: "Input sets" }).getByText("Valid").waitFor();
  assert.deepEqual(await sets(), ["large"]);
  assert.match(complaints().join(), /400/);
});

test("the form to run keeps its values as a set, which fills it again", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(`${PIPELINE}/run`, "Run ask");
  await page.getByLabel("size").selectOption("small");
  await page.getByRole("textbox", { name: "count" }).fill("7");
  await page.getByRole("button", { name: "Save as an input set" }).click();
  const dialog = page.getByRole("dialog", { name: "Save as an input set" });
  await dialog.getByLabel("Name").fill("Seven small");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Save input set" }).click();
  await page.getByText("The input set Seven small was created.").waitFor();
  await page.reload();
  await page.getByRole("checkbox", { name: "Seven small" }).check();
  await page.locator("option:checked", { hasText: "small" }).waitFor({ state: "attached" });
  assert.equal(await page.getByRole("textbox", { name: "count" }).inputValue(), "7");
  assert.deepEqual(await sets(), ["Seven_small", "large"]);
  assert.deepEqual(complaints(), []);
});

test("an overlay is a list of sets; its set cannot be deleted, and it says why", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(`${PIPELINE}/input-sets`, "Ask");
  await page.getByRole("link", { name: "New overlay" }).click();
  await editor("overlay").getByText("inputSetReferences").waitFor();
  await page.getByRole("button", { name: "Create overlay" }).click();
  await page.getByText("The overlay New overlay was created.").waitFor();
  await page.getByRole("link", { name: "New overlay" }).last().waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Actions of Seven small" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete input set Seven small?" });
  await dialog.getByRole("button", { name: "Delete input set" }).click();
  await dialog.getByRole("alert").filter({ hasText: "new_overlay" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Actions of New overlay" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete overlay" }).click();
  await page.getByText("The overlay New overlay was deleted.").waitFor();
  assert.match(complaints().join(), /402|400/);
});

test("an outdated set says so, a name stays text, and a reader is offered no changes", { skip }, async () => {
  const { page, open, platform, browser, signIn, complaints } = web;
  const changed = ASKING.replace("small,large", "small,medium");
  const sent = { body: changed, contentType: "application/yaml" };
  await made(platform.send("PUT", "/pipeline/api/pipelines/ask?orgIdentifier=default&projectIdentifier=shop", sent));
  // The API takes plain names only; pages do not rely on it.
  await platform.db.query("update input_sets set name = $1 where identifier = 'Seven_small'", [HOSTILE]);
  await open(`${PIPELINE}/input-sets`, "Ask");
  await page.getByText("Outdated").waitFor();
  await page.getByRole("link", { name: /onerror/ }).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertFitsNarrow(page);
  await assertAccessible(page);
  await platform.addUser("_account_viewer");
  const [user] = await platform.db.query<{ email: string }>(
    "select email from users where email <> 'admin@railhead.local'",
  );
  await browser.context.clearCookies();
  await signIn(user?.email);
  await open(`${PIPELINE}/input-sets`, "Ask");
  await page.getByRole("link", { name: "Large" }).click();
  await editor("input set").getByText("value: large").waitFor();
  assert.equal(await page.getByRole("button", { name: "Save", exact: true }).count(), 0);
  await page.getByRole("link", { name: "Input sets" }).click();
  await page.getByRole("link", { name: "Large" }).waitFor();
  assert.equal(await page.getByRole("link", { name: /^New / }).count(), 0);
  assert.equal(await page.getByRole("button", { name: /^Actions of/ }).count(), 0);
  assert.deepEqual(complaints(), []);
});

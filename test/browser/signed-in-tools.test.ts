/** The explorer and the page of the REST API with a session and with a typed key, in a real browser. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { findChromium, startChromium, type Chromium } from "../support/services/chromium.ts";
import { create, made, projectYaml } from "../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD } from "../support/sessions.ts";

const found = await findChromium();
const skip = "missing" in found ? found.missing : false;

let platform: TestPlatform;
let browser: Chromium;
before(async () => {
  platform = await startTestPlatform();
  await setUserPassword(platform);
  await made(create.project(platform, projectYaml()));
  if (!("missing" in found)) browser = await startChromium(found.path);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
});
beforeEach(() => browser?.context.clearCookies());

async function signIn(): Promise<void> {
  const { page } = browser;
  await page.goto(`${platform.url}/login`);
  await page.getByLabel("E-mail").fill(ADMIN);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Sign in" }).waitFor();
}

test("the explorer uses the session without a key, and fills in the account", { skip }, async () => {
  await signIn();
  const { page } = browser;
  for (const path of ["/graphql-explorer", "/gateway/graphql-explorer"]) {
    await page.goto(`${platform.url}${path}`);
    await page.getByText(`You are signed in as ${ADMIN}`).waitFor();
    assert.equal(await page.getByLabel("Account id").inputValue(), platform.accountId);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator("#status", { hasText: "HTTP 200" }).waitFor();
    const shown = JSON.parse((await page.locator("#result").textContent()) ?? "");
    assert.equal(shown.data.applications.nodes[0].name, "The shop");
  }
});

test("a typed key takes precedence over the session: a wrong one is refused", { skip }, async () => {
  await signIn();
  const { page } = browser;
  await page.goto(`${platform.url}/graphql-explorer`);
  await page.getByText(`You are signed in as ${ADMIN}`).waitFor();
  await page.getByLabel("API key").fill("wrong");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator("#status", { hasText: "HTTP 401" }).waitFor();
});

/** Opens an operation that changes something, executes its example with another identifier, and returns the status. */
async function execute(identifier: string): Promise<string> {
  const { page } = browser;
  await page.locator('.opblock-tag[data-tag="organization"]').click();
  const operation = page.locator(".opblock-post", { has: page.locator('[data-path="/ng/api/organizations"]') });
  await operation.waitFor();
  await operation.getByRole("button").first().click();
  await operation.getByRole("button", { name: "Try it out" }).click();
  const account = operation.locator('tr[data-param-name="accountIdentifier"] input');
  if ((await account.count()) > 0) await account.fill(platform.accountId);
  await operation.locator("textarea").fill(JSON.stringify({ organization: { identifier, name: identifier } }));
  await operation.getByRole("button", { name: "Execute" }).click();
  const status = operation.locator(".live-responses-table .response-col_status").last();
  await status.waitFor();
  return (await status.innerText()).trim().slice(0, 3);
}

const exists = async (identifier: string): Promise<boolean> =>
  (await platform.send("GET", `/ng/api/organizations/${identifier}`)).status === 200;

const openDocs = (): Promise<unknown> => browser.page.goto(`${platform.url}/api-docs`);

test("Execute changes something with the user's session", { skip }, async () => {
  await signIn();
  await openDocs();
  assert.equal(await execute("by_session"), "200");
  assert.ok(await exists("by_session"));
});

test("Execute is refused without a session, and the groups are in order", { skip }, async () => {
  const { page } = browser;
  await openDocs();
  await page.reload();
  assert.equal(await execute("without_session"), "401");
  assert.equal(await exists("without_session"), false);
  const inOrder =
    "((tags) => tags.length > 10 && tags.every((tag, at) => at === 0 || tags[at - 1].localeCompare(tag) <= 0))";
  const isOrdered = await page.evaluate(
    `${inOrder}([...document.querySelectorAll(".opblock-tag")].map((tag) => tag.dataset.tag))`,
  );
  assert.equal(isOrdered, true);
});

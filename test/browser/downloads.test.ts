/** Downloads by a plain link, with the session of a real browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createPipelines, startRun } from "../support/runs.ts";
import { findChromium, startChromium, type Chromium } from "../support/services/chromium.ts";
import { pretendDelegate, type PretendDelegate } from "../support/pretend-delegate.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD } from "../support/sessions.ts";

const found = await findChromium();
const skip = "missing" in found ? found.missing : false;
const MARKUP = "<script>document.title = 'run'</script>\n";

let platform: TestPlatform;
let delegate: PretendDelegate;
let browser: Chromium;
let address: string;

before(async () => {
  platform = await startTestPlatform();
  await setUserPassword(platform);
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 1 });
  await delegate.next("welcome");
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const id = await startRun(platform, "one");
  delegate.finish(await delegate.next("run"), { output: MARKUP.repeat(1_000) });
  await delegate.next("finishedAck");
  address = `/pipeline/api/pipelines/execution/${id}/logs?accountIdentifier=${platform.accountId}`;
  if (!("missing" in found)) browser = await startChromium(found.path);
});
after(async () => {
  await browser?.close();
  await delegate?.close();
  await platform?.stop();
});

/** Follows a new link of the page. */
const follow = (attributes: Readonly<Record<string, string>>): Promise<void> =>
  browser.page.evaluate(`{
    const link = document.createElement("a");
    for (const [name, value] of Object.entries(${JSON.stringify(attributes)})) link.setAttribute(name, value);
    document.body.append(link);
    link.click();
  }`);

test("a link saves the log as a file, and shows nothing of it", { skip }, async () => {
  const { page } = browser;
  await page.goto(`${platform.url}/login`);
  await page.getByLabel("E-mail").fill(ADMIN);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Password", { exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Sign in" }).waitFor();
  const shown = page.url();
  for (const attributes of [{ href: address, download: "" }, { href: address }]) {
    const saved = page.waitForEvent("download");
    await follow(attributes);
    const download = await saved;
    assert.equal(download.suggestedFilename(), "one-1.log");
    assert.equal(await readFile(await download.path(), "utf8"), MARKUP.repeat(1_000));
    assert.equal(page.url(), shown);
  }
});

test(
  "a script of a page gets no log without the anti-forgery token, nor does a page of another site",
  { skip },
  async () => {
    const { page } = browser;
    const status = await page.evaluate((path) => fetch(path).then((answer) => answer.status), address);
    assert.equal(status, 403);
    // Another site for the browser: a cookie of 127.0.0.1 is not sent to localhost, nor one with SameSite=Strict from it.
    const { port } = new URL(platform.url);
    await page.goto(`http://localhost:${port}/login`);
    const answered = page.waitForResponse((response) => response.url().endsWith(address));
    await follow({ href: `${platform.url}${address}` });
    assert.equal((await answered).status(), 401);
  },
);

/** The page of a log: live, long, searched and hostile, with a real delegate. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createPipelines, detailOf, startRun, waitForEnd } from "../support/runs.ts";
import { until } from "../support/until.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const folder = mkdtempSync(join(tmpdir(), "railhead-test-logs-"));
/** The step writes what the test writes into it. */
const pipe = join(folder, "pipe");
const LONG_LINES = 600_000;

const ESC = "\\033";
const HOSTILE = [
  `printf '<img src=x onerror=alert(1)><script>alert(2)</script>\\n'`,
  `printf '${ESC}]8;;javascript:alert(3)${ESC}\\\\click${ESC}]8;;${ESC}\\\\ here\\n'`,
  `printf '${ESC}[2J${ESC}[1;1Hmoved ${ESC}[1;31mred${ESC}[0m ${ESC}]0;title\\007end\\n'`,
  `printf 'admin\\342\\200\\256gnp.exe\\n'`,
  `printf '10%%\\r50%%\\rdone\\n'`,
  `head -c 300000 /dev/zero | tr '\\0' x; echo`,
  `printf 'last\\n'`,
].join("\n");

const GROUPED = [
  "echo '--- Install'",
  "seq -f 'install %g' 1 40",
  "echo '--- Test'",
  "echo '::group::Unit'",
  "seq -f 'unit %g' 1 40",
  "echo '::endgroup::'",
  "seq -f 'after %g' 1 40",
].join("\n");

let web: WebTest;
let output: number;
before(async () => {
  if (skip) return;
  execFileSync("/usr/bin/mkfifo", [pipe]);
  // The delegate runs steps as another user.
  chmodSync(folder, 0o755);
  // Also for reading, so that it opens before the step has begun.
  output = openSync(pipe, constants.O_RDWR);
  web = await startWeb({ delegate: true });
  const retried = {
    onFailure: {
      errors: ["AllErrors"],
      action: {
        type: "Retry",
        spec: { retryCount: 1, retryIntervals: ["1s"], onRetryFailure: { action: { type: "MarkAsFailure" } } },
      },
    },
  };
  await createPipelines(
    web.platform,
    { id: "live", steps: [{ id: "Follow", script: `cat ${pipe}` }] },
    { id: "long", steps: [{ id: "Long", script: `seq -f 'line %.0f' 1 ${LONG_LINES}` }] },
    { id: "hostile", steps: [{ id: "Hostile", script: HOSTILE }] },
    { id: "grouped", steps: [{ id: "Grouped", script: GROUPED }] },
    { id: "retried", steps: [{ id: "Flaky", script: `echo "attempt of $$"; exit 3` }], failureStrategies: [retried] },
  );
});
after(async () => {
  await web?.stop();
  rmSync(folder, { recursive: true });
});

/** Lets `cutConnection()` in the page break its event streams. */
const CUTTABLE = `(() => {
  const { fetch } = window;
  let cut = new AbortController();
  window.cutConnection = () => {
    cut.abort(new TypeError("cut"));
    cut = new AbortController();
  };
  window.fetch = (url, options) =>
    String(url).includes("/events?")
      ? fetch(url, { ...options, signal: AbortSignal.any([options.signal, cut.signal]) })
      : fetch(url, options);
})()`;

/** Starts the pipeline, and returns the path of the page of its step's log. */
async function start(pipeline: string, step: string): Promise<{ readonly id: string; readonly path: string }> {
  const id = await startRun(web.platform, pipeline);
  const node = (await detailOf(web.platform, id)).step(step)["uuid"] as string;
  return { id, path: `/projects/default/p/executions/${id}/logs/${node}` };
}

async function run(pipeline: string, step: string): Promise<string> {
  const { id, path } = await start(pipeline, step);
  await waitForEnd(web.platform, id);
  return path;
}

const lines = () => web.page.getByRole("region", { name: /^Log of .*lines$/ });
const line = (number: number) => web.page.locator(`[data-line="${number}"]`);
const search = () => web.page.getByRole("searchbox", { name: "Search the log" });

/** Whether the line is wholly in the visible part of the log. */
const sightOf = (number: number): string => `(() => {
  const row = document.querySelector('[data-line="${number}"]')?.getBoundingClientRect();
  const view = document.querySelector('[role="region"][aria-label^="Log of"]').getBoundingClientRect();
  return row !== undefined && row.top >= view.top - 1 && row.bottom <= view.bottom + 1;
})()`;

/** Waits until the line is in sight with its text. */
async function seen(number: number, text: string): Promise<void> {
  await line(number).getByText(text, { exact: true }).waitFor();
  await until(() => web.page.evaluate<boolean>(sightOf(number)), Boolean);
}

const unseen = (number: number) => until(() => web.page.evaluate<boolean>(`!${sightOf(number)}`), Boolean);

test(
  "a log is followed, until the reader scrolls and again when told; also after a lost connection",
  { skip },
  async () => {
    const { page, open, complaints } = web;
    const { id, path } = await start("live", "Follow");
    const write = (from: number, to: number): void => {
      for (let number = from; number <= to; number += 1) writeSync(output, `out ${number}\n`);
    };
    await page.addInitScript(CUTTABLE);
    await open(path, "Log of Follow");
    write(1, 5);
    await seen(5, "out 5");
    assert.equal(await page.title(), "Log of Follow · live #1 · p · Railhead");
    write(6, 300);
    await seen(300, "out 300");
    await assertAccessible(page);
    await lines().hover();
    await page.mouse.wheel(0, -1_000);
    const follow = page.getByRole("button", { name: "Follow the log" });
    await follow.waitFor();
    write(301, 600);
    await page.getByRole("region", { name: "Log of Follow, 600 lines" }).waitFor();
    await unseen(600);
    await assertAccessible(page);
    await assertFitsNarrow(page);
    await follow.click();
    await seen(600, "out 600");
    assert.equal(await follow.count(), 0);
    await page.route("**/events?*", (route) => route.abort());
    await page.evaluate("cutConnection()");
    await page.getByText("The connection to the server was lost").waitFor();
    write(601, 900);
    await page.unroute("**/events?*");
    await seen(900, "out 900");
    writeSync(output, "the end");
    closeSync(output);
    await waitForEnd(web.platform, id);
    await seen(901, "the end");
    complaints(); // of the lost connection
  },
);

test("of a long log only what is in sight is in the page, and every line is reached", { skip }, async () => {
  const { page, open } = web;
  await open(await run("long", "Long"), "Log of Long");
  await seen(1, "line 1");
  const rows = () => page.locator("[data-line]").count();
  const most = 130;
  assert.ok((await rows()) < most);
  await lines().focus();
  await page.keyboard.press("End");
  await seen(LONG_LINES, `line ${LONG_LINES}`);
  // A pixel of the scroll bar stands for several pixels of the log; the wheel moves by pixels.
  await lines().hover();
  await page.mouse.wheel(0, -200);
  await unseen(LONG_LINES);
  await seen(LONG_LINES - 20, `line ${LONG_LINES - 20}`);
  for (const part of [0.25, 0.5, 0.75]) {
    await page.evaluate(`(() => {
      const view = document.querySelector('[role="region"][aria-label^="Log of"]');
      view.scrollTo({ top: ${part} * (view.scrollHeight - view.clientHeight) });
    })()`);
    const near = Math.round(part * LONG_LINES);
    await line(near).getByText(`line ${near}`, { exact: true }).waitFor();
    assert.ok((await rows()) < most);
  }
  await page.keyboard.press("Home");
  await seen(1, "line 1");
});

test("a search finds lines that were never loaded, marks them and goes from one to the next", { skip }, async () => {
  const { page } = web;
  await search().fill("LINE 4999");
  await page.getByText("1 of 111", { exact: true }).waitFor();
  await seen(4999, "line 4999");
  await page.locator("mark").getByText("line 4999", { exact: true }).first().waitFor();
  await search().press("Enter");
  await page.getByText("2 of 111", { exact: true }).waitFor();
  await seen(49_990, "line 49990");
  await search().press("Shift+Enter");
  await search().press("Shift+Enter");
  await page.getByText("111 of 111", { exact: true }).waitFor();
  await seen(499_999, "line 499999");
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.reload();
  await page.getByText("1 of 111", { exact: true }).waitFor();
  await search().fill("no such text");
  await page.getByText("No lines", { exact: true }).waitFor();
});

test("links name a line or a range", { skip }, async () => {
  const { page, platform } = web;
  const url = new URL(page.url());
  await page.goto("about:blank");
  await page.goto(`${platform.url}${url.pathname}#L300000-L300002`);
  await seen(300_000, "line 300000");
  const selected = page.locator("[data-line][class*=selected]");
  assert.equal(await selected.count(), 3);
  await line(300_005).getByRole("link").click();
  await page.waitForURL(/#L300005$/);
  await line(300_003)
    .getByRole("link")
    .click({ modifiers: ["Shift"] });
  await page.waitForURL(/#L300003-L300005$/);
  assert.equal(await selected.count(), 3);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: "Copy lines 300003 to 300005" }).click();
  await page.getByText("The lines were copied.").waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), "line 300003\nline 300004\nline 300005\n");
  const field = page.getByRole("textbox", { name: "Go to lines" });
  await field.fill("7-9");
  await field.press("Enter");
  await page.waitForURL(/#L7-L9$/);
  await seen(7, "line 7");
});

test("the log is downloaded as it is", { skip }, async () => {
  const { page } = web;
  await page.getByRole("button", { name: "Download" }).click();
  const begun = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Text" }).click();
  const text = readFileSync(await (await begun).path(), "utf8");
  assert.equal(text.split("\n").length, LONG_LINES + 1);
});

test("markup, escapes and marks of direction stay text, and long lines do not widen the page", { skip }, async () => {
  const { page, open, complaints } = web;
  complaints();
  await open(await run("hostile", "Hostile"), "Log of Hostile");
  await line(1).getByText("<img src=x onerror=alert(1)><script>alert(2)</script>").waitFor();
  await line(2).getByText("click here", { exact: true }).waitFor();
  await line(3).getByText("moved red end").waitFor();
  assert.equal(await line(3).locator("span").getByText("red", { exact: true }).count(), 1);
  await line(4).getByText("admin<202E>gnp.exe").waitFor();
  await line(5).getByText("done", { exact: true }).waitFor();
  const all = line(6).getByRole("link", { name: "Download all 293 KiB of this line" });
  const begun = page.waitForEvent("download");
  await all.click();
  assert.equal(readFileSync(await (await begun).path(), "utf8"), "x".repeat(300_000));
  assert.equal(await page.locator("main img, main script, [data-line] a[href*=javascript]").count(), 0);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.getByRole("button", { name: "Wrap long lines (w)" }).click();
  await page.waitForURL(/wrap=true/);
  await lines().press("End");
  await seen(7, "last");
  await lines().press("Home");
  await seen(1, "<img src=x onerror=alert(1)><script>alert(2)</script>");
  await assertFitsNarrow(page);
  await page.getByRole("button", { name: "Show times (t)" }).click();
  await line(1)
    .getByText(/^\d\d:\d\d:\d\d\.\d{3}$/)
    .waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints(), []);
});

test("groups close and open, and a search opens the one that it leads into", { skip }, async () => {
  const { page, open } = web;
  await open(await run("grouped", "Grouped"), "Log of Grouped");
  await line(1).getByRole("button", { name: "Close the group of line 1" }).click();
  assert.equal(await line(2).count(), 0);
  await line(42).getByText("--- Test").waitFor();
  await page.getByRole("button", { name: "Groups of lines" }).press("Enter");
  await assertAccessible(page);
  await page.getByRole("menuitemcheckbox", { name: "Unit" }).press("Enter");
  await page.keyboard.press("Escape");
  await line(43).getByRole("button", { name: "Open the group of line 43" }).waitFor();
  assert.equal(await line(44).count(), 0);
  await line(85).getByText("after 1", { exact: true }).waitFor();
  await search().fill("unit 17");
  await seen(60, "unit 17");
  await assertFitsNarrow(page);
});

test("attempts have logs of their own", { skip }, async () => {
  const { page, open } = web;
  const path = await run("retried", "Flaky");
  await open(path, "Log of Flaky");
  await line(2)
    .getByText(/attempt of/)
    .waitFor();
  await page.getByRole("combobox", { name: "Attempt" }).selectOption("Attempt 2 of 2");
  await page.waitForURL(/attempt=2/);
  await line(2).waitFor({ state: "detached" });
  await line(1)
    .getByText(/attempt of/)
    .waitFor();
  await assertAccessible(page);
  await open(`${path}?attempt=1`, "Log of Flaky");
  await line(1)
    .getByText(/attempt of/)
    .waitFor();
});

test("a log that does not exist is named, and a reader without permission sees none", { skip }, async () => {
  const { page, open, platform, browser, complaints, signIn } = web;
  const path = await run("grouped", "Grouped");
  await open(`${path}x`, "Log not found");
  await page.getByRole("link", { name: "Show all executions" }).waitFor();
  await assertAccessible(page);
  complaints();
  const project = { name: "Other", identifier: "other", orgIdentifier: "default" };
  const made = await platform.send("POST", "/ng/api/projects?orgIdentifier=default", {
    contentType: "application/json",
    body: JSON.stringify({ project }),
  });
  assert.equal(made.status, 200, made.text);
  await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "other" });
  const [user] = await platform.db.query<{ email: string }>(
    "select email from users where email like 'user%' or name like 'user %'",
  );
  await browser.context.clearCookies();
  await signIn(user?.email);
  await page.goto(`${platform.url}${path}`);
  await page.getByText("You may not see this page").waitFor();
  assert.equal(await page.locator("[data-line]").count(), 0);
});

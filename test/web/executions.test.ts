/** The list of executions and the page of one, with a real delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadExample } from "../../scripts/example/load.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";
const LIST = "/projects/default/quickstart/executions";
const HOSTILE = `<img src=x onerror=alert(1)>\u202E ${"long".repeat(46)}`;

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb({ delegate: true });
  const { url: baseUrl, accountId, apiKey } = web.platform;
  for (const name of ["flow", "approval", "inputs", "failures"])
    await loadExample({ baseUrl, accountId, apiKey }, name);
});
after(() => web?.stop());

async function start(pipeline: string, inputs = ""): Promise<string> {
  const answer = await web.platform.send("POST", `/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`, {
    contentType: "application/yaml",
    body: inputs,
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.planExecution.uuid;
}

const status = (name: string) => web.page.locator("header:has(h1)").getByText(name, { exact: true });

test("an empty list says what an execution is, and one that is started appears by itself", { skip }, async () => {
  const { page, open } = web;
  await open(LIST, "Executions");
  await page.getByText("No executions yet").waitFor();
  await assertAccessible(page);
  await start("flow_of_a_release");
  const row = page.getByRole("row", { name: /Flow of a release #1/ });
  await row.getByText("Failed", { exact: true }).waitFor();
  await row.getByText("Step 'Roll out' exited with code 3").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "Flow of a release #1", level: 1 }).waitFor();
  assert.equal(await page.title(), "Flow of a release #1 · quickstart · Railhead");
});

test("a failed execution shows the failed step with the end of its log first", { skip }, async () => {
  const { page } = web;
  const failure = page.getByRole("article", { name: "Roll out" });
  await failure.getByText("Step 'Roll out' exited with code 3").waitFor();
  await failure.getByRole("region", { name: "Last lines of the log" }).getByText("roll out").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
});

test("the selected step, its tab and the view are in the address", { skip }, async () => {
  const { page } = web;
  const graph = page.getByRole("region", { name: "Graph of stages and steps" });
  await graph.getByRole("button", { name: /Smoke/ }).click();
  const panel = page.getByRole("region", { name: "ShellScript step Smoke" });
  await panel.getByRole("region", { name: "Log" }).getByText("smoke try 1").waitFor();
  await panel.getByRole("tab", { name: "Attempts" }).click();
  await panel.getByText("Step 'Smoke' exited with code 1").waitFor();
  await page.reload();
  await panel.getByText("Attempt 1").waitFor();
  await page.getByText("Timeline", { exact: true }).click();
  await page
    .getByRole("region", { name: "Timeline" })
    .getByRole("button", { name: /Roll back/ })
    .click();
  await page.getByRole("region", { name: "ShellScript step Roll back" }).waitFor();
  assert.match(page.url(), /view=timeline/);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.getByRole("button", { name: "Show the whole execution" }).click();
  await page.getByRole("region", { name: "Overview" }).waitFor();
});

test("parts of the graph close and open by keyboard", { skip }, async () => {
  const { page } = web;
  await page.getByText("Graph", { exact: true }).click();
  const stage = page.getByRole("region", { name: "Stage Test" });
  await stage.getByRole("button", { name: "Hide the steps of Test" }).focus();
  await page.keyboard.press("Enter");
  await stage.getByText("7 steps").waitFor();
  await page.keyboard.press("Enter");
  await stage
    .getByRole("group", { name: "Unit tests" })
    .getByRole("button", { name: /unit 24 on musl/ })
    .waitFor();
});

test("a retry begins at a step, and leads to the new execution", { skip }, async () => {
  const { page } = web;
  const former = page.url();
  await page
    .getByRole("region", { name: "Stage Deploy" })
    .getByRole("button", { name: /Roll out/ })
    .click();
  await page.getByRole("button", { name: "Retry this stage" }).click(); // it was rolled back
  await page.getByRole("heading", { name: "Flow of a release #2", level: 1 }).waitFor();
  await status("Failed").waitFor();
  await page.getByRole("link", { name: "Earlier execution" }).click();
  await page.getByRole("heading", { name: "Flow of a release #1", level: 1 }).waitFor();
  assert.equal(new URL(page.url()).pathname, new URL(former).pathname);
});

test("an approver approves with inputs", { skip }, async () => {
  const { page, open } = web;
  const version = "    - { name: version, type: String, value: 1.2.3 }\n";
  const inputs = `pipeline:\n  identifier: ask_before_a_release\n  variables:\n${version}`;
  const id = await start("ask_before_a_release", inputs);
  await open(`${LIST}/${id}`, "Ask before a release #1");
  const form = page.getByRole("form", { name: "Decision" });
  await form.getByRole("button", { name: "Approve" }).click();
  await form.getByText("change is required to approve.").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await form.getByLabel("change").fill("none");
  await form.getByRole("button", { name: "Approve" }).click();
  await page
    .getByRole("region", { name: "Messages" })
    .getByText(/change/)
    .waitFor();
  await form.getByLabel("change").fill("CHG-7");
  await form.getByLabel("Comment").fill("go");
  await form.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("region", { name: "Stage Release" }).getByRole("button", { name: /Pause/ }).click();
  await page.getByText("Why it waits").waitFor();
  await page
    .getByRole("region", { name: "Stage Ask" })
    .getByRole("button", { name: /Managers/ })
    .click();
  await page.getByRole("list", { name: "Decisions" }).getByText("CHG-7").waitFor();
  web.complaints(); // the refusal of the first value
});

test("inputs are submitted while it runs", { skip }, async () => {
  const { page, open } = web;
  await open(`${LIST}/${await start("ask_while_it_runs")}`, "Ask while it runs #1");
  const form = page.getByRole("form", { name: "Inputs" });
  await form.getByRole("button", { name: "Submit inputs" }).click();
  await form.getByText("Enter a value.").waitFor();
  await form.getByLabel("region").selectOption("eu");
  await form.getByRole("button", { name: "Submit inputs" }).click();
  await form.getByLabel("NOTE").fill(HOSTILE.replace("\u202E", ""));
  await form.getByRole("button", { name: "Submit inputs" }).click();
  await status("Success").waitFor();
  await page
    .getByRole("region", { name: "Stage Release" })
    .getByRole("button", { name: /Announce/ })
    .click();
  await page.getByRole("region", { name: "Log" }).getByText("onerror=alert").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertFitsNarrow(page);
});

const greeting = (description: string): string => `pipeline:
  name: Greet
  identifier: greet
  description: ${description}
  orgIdentifier: default
  projectIdentifier: quickstart
  variables:
    - { name: who, type: String, value: <+input> }
  stages:
    - stage:
        name: Say
        identifier: say
        type: Custom
        spec:
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Greet
                  identifier: greet
                  spec:
                    shell: Bash
                    source: { type: Inline, spec: { script: echo hello <+pipeline.variables.who> } }
`;

async function saveGreeting(method: "POST" | "PUT", description: string): Promise<void> {
  const path = `/pipeline/api/pipelines${method === "PUT" ? "/greet" : ""}?${SCOPE}`;
  const answer = await web.platform.send(method, path, {
    contentType: "application/yaml",
    body: greeting(description),
  });
  assert.equal(answer.status, 200, answer.text);
}

test("an execution tells what has changed since the last success", { skip }, async () => {
  const { page, open, complaints } = web;
  const greet = (who: string): Promise<string> =>
    start(
      "greet",
      `pipeline: { identifier: greet, variables: [{ name: who, type: String, value: ${JSON.stringify(who)} }] }`,
    );
  await saveGreeting("POST", "the first");
  await open(`${LIST}/${await greet("world")}`, "Greet #1");
  await status("Success").waitFor();
  const changes = page.getByRole("region", { name: "Changes since the last success" });
  assert.equal(await changes.count(), 0);
  await open(`${LIST}/${await greet("world")}`, "Greet #2");
  await changes.getByText("The pipeline, its inputs and the commit are the same.").waitFor();
  await status("Success").waitFor();
  await saveGreeting("PUT", "the second");
  await open(`${LIST}/${await greet(HOSTILE.replace("\u202E", ""))}`, "Greet #3");
  await changes.getByText("world").waitFor();
  await changes.getByText("onerror=alert").waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await changes.getByRole("link", { name: "Execution #2" }).waitFor();
  await changes.getByRole("link", { name: "version 1 → 2" }).click();
  await page.getByText("the second").first().waitFor();
  assert.deepEqual(complaints(), []);
});

test(
  "a failure that waits for a decision is rolled back, and an execution is paused and aborted",
  { skip },
  async () => {
    const { page, open } = web;
    await open(`${LIST}/${await start("failures_of_a_release")}`, "Failures of a release #1");
    await status("Waiting for intervention").waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await page.getByRole("button", { name: "Roll back the stage" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back the stage after 'Smoke'?" });
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Roll back the stage" }).click();
    await status("Failed").waitFor();
    await page
      .getByRole("region", { name: "Stage Release" })
      .getByRole("button", { name: /Restore/ })
      .waitFor();
    await open(`${LIST}/${await start("failures_of_a_release")}`, "Failures of a release #2");
    await page.getByRole("button", { name: "Abort", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Abort execution" }).click();
    await status("Aborted").waitFor();
  },
);

test("filters are in the address, and what they leave out is said", { skip }, async () => {
  const { page, open, platform } = web;
  await open(LIST, "Executions");
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("menuitem", { name: "Status" }).click();
  await page.getByRole("checkbox", { name: "Aborted" }).check();
  await page.waitForURL(/status=/);
  await page.keyboard.press("Escape");
  await page.getByText("1 execution", { exact: true }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Failures of a release #2" }).waitFor();
  await page.getByRole("searchbox", { name: "Search pipelines" }).fill("flow");
  await page.getByText("No executions match the filters").waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).last().click();
  await page.waitForURL(`${platform.url}${LIST}`);
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("menuitem", { name: "Pipeline" }).click();
  await page.getByRole("combobox", { name: "Pipeline" }).fill("before");
  await page.getByRole("option", { name: /Ask before a release/ }).click();
  await page.waitForURL(/pipeline=ask_before_a_release/);
  await page.getByText("1 execution", { exact: true }).waitFor();
});

test(
  "older pages are reached by a cursor, and new executions are announced to who has scrolled",
  { skip },
  async () => {
    const { page, open } = web;
    for (let run = 0; run < 55; run += 1) await start("ask_while_it_runs");
    await open(LIST, "Executions");
    const link = (run: number) => page.getByRole("link", { name: `Ask while it runs #${run}`, exact: true });
    await link(56).waitFor();
    await page.evaluate("scrollTo({ top: 400 })");
    await start("ask_while_it_runs");
    const announced = page.getByRole("button", { name: "1 new" });
    await announced.waitFor();
    assert.equal(await link(57).count(), 0);
    await announced.click();
    await link(57).waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForURL(/before=/);
    await link(2).waitFor();
    assert.equal(await link(57).count(), 0);
    await page.reload();
    await link(2).waitFor();
    await page.getByRole("button", { name: "Newer" }).click();
    await link(57).waitFor();
  },
);

test("a lost connection is shown, and recovers by itself", { skip }, async () => {
  const { page, platform, complaints } = web;
  await page.route("**/summary/events?*", (route) => route.abort());
  await page.goto(`${platform.url}${LIST}`);
  const notice = page.getByText("The connection to the server was lost");
  await notice.waitFor();
  await page.unroute("**/summary/events?*");
  await notice.waitFor({ state: "detached" });
  complaints(); // the refused connections
});

test("hostile names stay text, and do not widen the page", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  complaints();
  const id = await start("flow_of_a_release");
  await open(`${LIST}/${id}`, /Flow of a release/);
  await status("Failed").waitFor();
  // The API takes plain names only; pages do not rely on it.
  const text = JSON.stringify(HOSTILE).slice(1, -1);
  await page.route(`**/${id}/events?*`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replaceAll(
      /Flow of a release|Roll out|Deploy(?=")|Checks|admin@railhead.local/g,
      () => text,
    );
    await route.fulfill({ response: answer, body });
  });
  await page.goto(`${platform.url}${LIST}/${id}`);
  await page.getByRole("heading", { name: /onerror=alert\(1\)><202E>/, level: 1 }).waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  await page.getByText("Timeline", { exact: true }).click();
  await assertFitsNarrow(page);
  assert.equal(await page.locator("main img").count(), 0);
  await page.unroute(`**/${id}/events?*`);
  assert.deepEqual(complaints(), []);
});

test("an execution that does not exist any more is named", { skip }, async () => {
  const { page, open, complaints } = web;
  await open(`${LIST}/AaIgP0yNd2O6KIKJ-13Alw`, "Execution not found");
  await page.getByRole("link", { name: "Show all executions" }).waitFor();
  await assertAccessible(page);
  complaints(); // 404
});

test("a reader is offered no actions", { skip }, async () => {
  const { page, open, platform, browser, signIn } = web;
  const failed = await start("flow_of_a_release");
  const waiting = await start("failures_of_a_release");
  const asking = await start("ask_while_it_runs");
  await platform.addUser("_account_viewer");
  const [user] = await platform.db.query<{ email: string }>(
    "select email from users where email like 'user%' or name like 'user %'",
  );
  await browser.context.clearCookies();
  await signIn(user?.email);
  await open(`${LIST}/${failed}`, /Flow of a release/);
  await status("Failed").waitFor();
  await page.getByRole("article", { name: "Roll out" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /Retry|Run again|More/ }).count(), 0);
  await open(`${LIST}/${waiting}`, /Failures of a release/);
  await page.getByRole("article", { name: "Smoke" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /Abort|Pause|Retry|Ignore|Roll back/ }).count(), 0);
  await open(`${LIST}/${asking}`, /Ask while it runs/);
  await page.getByRole("article", { name: "Release" }).waitFor();
  assert.equal(await page.getByRole("form", { name: "Inputs" }).count(), 0);
});

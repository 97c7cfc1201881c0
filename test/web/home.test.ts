/** The overview of the account and of a project: what runs, waits and failed, and the charts. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, projectYaml } from "../support/contract.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const PROJECT = "/projects/default/shop";
const IN_PROJECT = "orgIdentifier=default&projectIdentifier=shop";
const FAILURE = "the <b>disk</b> is full";

let web: WebTest;
before(async () => {
  if (skip) return;
  web = await startWeb({ delegate: true });
});
after(() => web?.stop());

const step = (name: string, script: string): string => `
              - step:
                  name: ${name}
                  identifier: ${name}
                  type: ShellScript
                  timeout: 1m
                  spec:
                    shell: Bash
                    onDelegate: true
                    delegateSelectors: [real]
                    source: { type: Inline, spec: { script: "${script}" } }`;

const APPROVAL = `
              - step:
                  name: agree
                  identifier: agree
                  type: PlatformApproval
                  timeout: 1h
                  spec:
                    approvalMessage: Ship it?
                    includePipelineExecutionHistory: true
                    approvers: { userGroups: [account._account_all_users], minimumCount: 1, disallowPipelineExecutor: false }`;

async function pipeline(identifier: string, steps: string): Promise<void> {
  const body = `pipeline:
  name: ${identifier}
  identifier: ${identifier}
  orgIdentifier: default
  projectIdentifier: shop
  stages:
    - stage:
        name: work
        identifier: work
        type: Custom
        spec:
          execution:
            steps:${steps}
`;
  const { status, text } = await web.platform.send("POST", `/pipeline/api/pipelines?${IN_PROJECT}`, {
    body,
    contentType: "application/yaml",
  });
  assert.equal(status, 200, text);
}

async function run(identifier: string): Promise<void> {
  const { status, text } = await web.platform.send(
    "POST",
    `/pipeline/api/pipeline/execute/${identifier}?${IN_PROJECT}`,
  );
  assert.equal(status, 200, text);
}

test("an empty account says what to do first", { skip }, async () => {
  const { page, open } = web;
  await open("/", "Overview");
  await page.getByText("Welcome to Railhead").waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "Create the first project" }).click();
  await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor();
});

test("a new project leads through the first steps", { skip }, async () => {
  const { page, open } = web;
  await made(create.project(web.platform, projectYaml()));
  await open(PROJECT, "The shop");
  await page.getByRole("heading", { name: "Getting started" }).waitFor();
  assert.equal(
    await page.getByRole("listitem").filter({ hasText: "Write the first pipeline" }).getByText("To do").count(),
    0,
  );
  await page.getByRole("link", { name: "Write the first pipeline" }).waitFor();
  await assertAccessible(page);
});

test("runs appear without a reload: what waits, what failed, and the counts of the day", { skip }, async () => {
  const { page, complaints } = web;
  await pipeline("broken", step("fail", `echo '${FAILURE}' >&2; exit 3`));
  await pipeline("gate", APPROVAL);
  complaints();
  await run("broken");
  const failures = page.getByRole("region", { name: "Last failures" });
  await failures.getByRole("link", { name: /broken/ }).waitFor();
  await run("gate");
  await page.getByRole("region", { name: "Running and waiting" }).getByText("Waiting for approval").waitFor();
  const mine = page.getByRole("region", { name: "Waiting for your approval" });
  await mine.getByText("Ship it?").waitFor();
  await page.getByRole("heading", { name: "Getting started" }).waitFor({ state: "hidden" });
  await page.getByRole("figure", { name: "Runs per day" }).getByRole("radio", { name: "Table" }).check({ force: true });
  await page.getByRole("table").first().waitFor();
  await page.getByRole("radio", { name: "7 days" }).check({ force: true });
  await page.waitForURL(/days=7/);
  await assertAccessible(page);
  await assertFitsNarrow(page);
  assert.equal(await page.locator("main b").count(), 0, "texts of scripts stay text");
  assert.deepEqual(complaints(), []);
});

test("the overview of the account shows what waits for the user in all projects", { skip }, async () => {
  const { page, open } = web;
  await open("/", "Overview");
  await page.getByRole("region", { name: "Waiting for your approval" }).getByText("Ship it?").waitFor();
  await page.getByRole("region", { name: "Waiting, and why" }).getByRole("link", { name: "gate #1" }).waitFor();
  const failures = page.getByRole("region", { name: "Last failures" });
  await failures.getByText(/Shell Script execution failed|<b>disk<\/b>|exit/i).waitFor();
  await failures.getByRole("link", { name: "broken #1" }).waitFor();
  await page.getByRole("region", { name: "Running now" }).getByText("Nothing runs.").waitFor();
  await page.getByRole("region", { name: "Projects" }).getByRole("link", { name: "The shop" }).waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
});

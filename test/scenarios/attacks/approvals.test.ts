/** Attack class 39: who started an execution tries to let it pass an approval that is not theirs. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addApprovalPipeline, addStepsPipeline, approvalsOf, decide } from "../../support/approvals.ts";
import { JSON_TYPE, made } from "../../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { createPipelines, detailOf, SCOPE, startRun, statusesOf } from "../../support/runs.ts";

let platform: TestPlatform;
let starter: string;
let approver: string;

const idOf = async (apiKey: string): Promise<string> =>
  (await platform.send("GET", "/ng/api/user/currentUser", { apiKey })).body.data.uuid;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  starter = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "p" });
  approver = await platform.addUser("_account_viewer");
  const group = { identifier: "approvers", name: "Approvers", users: [await idOf(starter), await idOf(approver)] };
  await made(
    platform.send("POST", `/ng/api/user-groups?${SCOPE}`, { contentType: JSON_TYPE, body: JSON.stringify(group) }),
  );
});
after(() => platform?.stop());

const INTERVENTION = {
  type: "ManualIntervention",
  spec: { timeout: "1h", onTimeout: { action: { type: "Abort" } } },
};
const failureStrategies = [{ onFailure: { errors: ["AllErrors"], action: INTERVENTION } }];

async function started(id: string): Promise<{ readonly execution: string; readonly node: string }> {
  const execution = await startRun(platform, `run_${id}`, { apiKey: starter });
  return { execution, node: (await detailOf(platform, execution)).step(id)["uuid"] };
}

async function requireRefused({ execution, node }: Awaited<ReturnType<typeof started>>, type: string): Promise<void> {
  const path = `/pipeline/api/pipeline/execute/interrupt/${execution}/${node}?interruptType=${type}`;
  const answer: Answer = await platform.send("PUT", path, { apiKey: starter });
  assert.equal(answer.status, 402, `${type}: ${answer.text}`);
  assert.match(answer.body.message, /only approvers let pass/);
}

test("no interrupt lets an approval pass that waits, or that was rejected", async () => {
  await addApprovalPipeline(platform, { id: "ask", approvers: { disallowPipelineExecutor: true }, failureStrategies });
  const run = await started("ask");
  const [approval] = await approvalsOf(platform, run.execution);
  assert.equal((await decide(platform, approval.id, starter)).body.message.includes("You started"), true);
  await requireRefused(run, "MarkAsSuccess");
  await requireRefused(run, "Ignore");
  assert.equal((await approvalsOf(platform, run.execution))[0].status, "WAITING");
  await decide(platform, approval.id, approver, { action: "REJECT" });
  const rejected = "InterventionWaiting ask:InterventionWaiting";
  assert.equal(await statusesOf(platform, run.execution, "ask"), rejected);
  await requireRefused(run, "MarkAsSuccess");
  await requireRefused(run, "Ignore");
  assert.equal(await statusesOf(platform, run.execution, "ask"), rejected);
});

test("no interrupt lets an approval by a script pass", async () => {
  const spec = {
    ...{ shell: "Bash", source: { type: "Inline", spec: { script: "state=open" } }, scriptTimeout: "1m" },
    ...{ retryInterval: "1m", outputVariables: [{ name: "state", type: "String", value: "state" }] },
    approvalCriteria: { type: "Jexl", spec: { expression: '<+output.outputVariables.state> == "approved"' } },
  };
  await addStepsPipeline(platform, { id: "script" }, [
    { step: { type: "CustomApproval", name: "script", identifier: "script", timeout: "1h", spec } },
  ]);
  await requireRefused(await started("script"), "MarkAsSuccess");
});

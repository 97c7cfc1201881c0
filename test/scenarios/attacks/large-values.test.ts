/** One small run whose steps all keep the same large value: what is stored for it stays bounded. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { createPipelines, detailOf, SCOPE } from "../../support/runs.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
});
after(() => platform?.stop());

const post = (path: string, body: object) =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));

test("approvals with a large message", async () => {
  const approvers = { minimumCount: 1, disallowPipelineExecutor: false, userGroups: ["approvers"] };
  const spec = { approvalMessage: "<+pipeline.variables.text>", includePipelineExecutionHistory: false, approvers };
  const step = { type: "PlatformApproval", name: "Ask", identifier: "ask", strategy: { repeat: { times: 60 } }, spec };
  const pipeline = {
    ...{ name: "large", identifier: "large", orgIdentifier: "default", projectIdentifier: "p" },
    variables: [{ name: "text", type: "String", value: "<+input>" }],
    stages: [{ stage: { name: "S", identifier: "s", type: "Approval", spec: { execution: { steps: [{ step }] } } } }],
  };
  await post(`/pipeline/api/pipelines?${SCOPE}`, { pipeline });
  const variables = [{ name: "text", type: "String", value: "x".repeat(200_000) }];
  const { planExecution } = await post(`/pipeline/api/pipeline/execute/large?${SCOPE}`, {
    pipeline: { identifier: "large", variables },
  });
  const { graph } = await detailOf(platform, planExecution.uuid);
  const steps = Object.values<{ status: string; failureInfo?: { message: string } }>(graph.nodeMap).filter(
    (node) => "identifier" in node && String(node.identifier).startsWith("ask_"),
  );
  const waiting = steps.filter(({ status }) => status === "ApprovalWaiting");
  assert.deepEqual([steps.length, waiting.length], [60, 21]);
  const failed = steps.find(({ status }) => status === "Failed");
  assert.match(failed?.failureInfo?.message ?? "", /what its open steps keep, have at most 4194304 bytes together/);
  const [row] = await platform.db.query<{ bytes: number }>(
    "select sum(length(n::text))::int as bytes from execution_nodes n",
  );
  assert.ok(row && row.bytes < 6_000_000, `${row?.bytes} bytes are stored`);
});

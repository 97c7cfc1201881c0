/** Which approvals wait for whom, over REST and GraphQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addApprovalPipeline, decide, type ApprovalSketch } from "../../test/support/approvals.ts";
import { create, JSON_TYPE, made, projectYaml } from "../../test/support/contract.ts";
import { fromWire } from "../core/ids.ts";
import { addPipelineViewer } from "../../test/support/pipeline-viewer.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { abortRun, createPipelines, SCOPE, startRun } from "../../test/support/runs.ts";
import { serviceToken } from "../../test/support/service-accounts.ts";

let platform: TestPlatform;
let ann: string;
let eve: string;
/** Executions by the pipeline's approval. */
const executions: Record<string, string> = {};

const post = (path: string, body: object) =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
const person = async (apiKey: string): Promise<{ uuid: string; email: string }> =>
  (await platform.send("GET", "/ng/api/user/currentUser", { apiKey })).body.data;

async function wait(id: string, sketch: Partial<ApprovalSketch> = {}): Promise<void> {
  await addApprovalPipeline(platform, { id, ...sketch });
  executions[id] = await startRun(platform, `run_${id}`);
}

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  [ann, eve] = [await platform.addUser("_account_viewer"), await platform.addUser("_account_viewer")];
  const users = [(await person(ann)).uuid, (await person(platform.apiKey)).uuid];
  await post(`/ng/api/user-groups?${SCOPE}`, { identifier: "approvers", name: "Approvers", users });
  await post("/ng/api/serviceaccount", { identifier: "robot", name: "Robot" });
  const rule = { name: "change", defaultValue: "CHG-0", required: true, regex: "CHG-[0-9]+" };
  await wait("plain", { spec: { approverInputs: [rule] } });
  await wait("own", { approvers: { disallowPipelineExecutor: true } });
  await wait("others", {
    approvers: {
      userGroups: ["account._account_all_users"],
      disallowedUserEmails: [(await person(ann)).email.toUpperCase()],
    },
  });
  await wait("twice", { approvers: { minimumCount: 2 } });
  await wait("robot", { approvers: { userGroups: [], serviceAccounts: ["account.robot"] } });
  await wait("done");
  await abortRun(platform, executions["done"] ?? "");
});
after(() => platform?.stop());

const ask = (query = "", options: object = {}): Promise<Answer> =>
  platform.send("GET", `/pipeline/api/approvals/pending?size=100${query}`, options);
type Pending = { readonly stepName: string; readonly mayDecide: boolean; readonly refusal: string | null };
/** The steps in the order of the answer, each with the reason why the caller may not decide it. */
async function steps(query = "", options: object = {}): Promise<string> {
  const { content } = await made(ask(query, options));
  return content
    .map(({ stepName, mayDecide, refusal }: Pending) => `${stepName} ${mayDecide ? "mine" : refusal}`)
    .join(", ");
}

test("what waits says to which step, stage, pipeline and execution it belongs, and what it asks for", async () => {
  const { content, size, lastSeenApprovalId } = await made(ask(`&${SCOPE}`, { apiKey: ann }));
  assert.deepEqual([size, lastSeenApprovalId], [100, null]);
  const [first] = content;
  const { uuid: _, email } = await person(platform.apiKey);
  const { id, nodeExecutionId, deadline, details, triggeredBy, ...rest } = first;
  assert.deepEqual(rest, {
    ...{ type: "PlatformApproval", status: "WAITING", errorMessage: null },
    ...{ createdAt: platform.clock.now(), lastModifiedAt: platform.clock.now() },
    ...{ approvedByCurrentUser: false, rejectedByCurrentUser: false },
    ...{ planExecutionId: executions["plain"], orgIdentifier: "default", projectIdentifier: "p" },
    ...{ pipelineIdentifier: "run_plain", pipelineName: "run_plain", runSequence: 1 },
    ...{ stageIdentifier: "release", stageName: "Release stage", stepName: "plain", mayDecide: true, refusal: null },
  });
  assert.equal(triggeredBy.email, email);
  assert.equal(details.approvalMessage, "Release?");
  assert.deepEqual(details.approverInputs, [
    { name: "change", defaultValue: "CHG-0", required: true, regex: "CHG-[0-9]+" },
  ]);
  assert.ok(deadline > platform.clock.now());
  const node = await made(
    platform.send("GET", `/pipeline/api/pipelines/getExecutionNode?nodeExecutionId=${nodeExecutionId}`),
  );
  assert.equal(node.identifier, "plain");
  assert.equal(
    (await decide(platform, id, ann, { action: "APPROVE", approverInputs: [{ name: "change", value: "CHG-1" }] }))
      .status,
    200,
  );
  assert.ok(!(await steps("", { apiKey: ann })).includes("plain"));
});

test("each caller learns what it may decide, and why not the others", async () => {
  assert.equal(await steps("", { apiKey: ann }), "own mine, others DISALLOWED, twice mine, robot NOT_APPROVER");
  assert.equal(await steps(), "own OWN_EXECUTION, others mine, twice mine, robot NOT_APPROVER");
  assert.equal(await steps("&mine=true"), "others mine, twice mine");
  assert.equal(await steps("&mine=true", { apiKey: eve }), "others mine");
  const { content } = await made(ask("", { apiKey: ann }));
  const twice = content.find(({ stepName }: Pending) => stepName === "twice");
  assert.equal((await decide(platform, twice.id, ann)).body.data.status, "WAITING");
  assert.equal(
    await steps("", { apiKey: ann }),
    "own mine, others DISALLOWED, twice ALREADY_ACTED, robot NOT_APPROVER",
  );
  const apiKey = await serviceToken(platform, "robot");
  assert.equal((await ask("", { apiKey })).status, 403);
});

test("a page goes on after an approval, also where few of many are for the caller", async () => {
  const seen: string[] = [];
  let after = "";
  for (let page = 0; page < 5; page += 1) {
    const { content, lastSeenApprovalId } = await made(
      platform.send("GET", `/pipeline/api/approvals/pending?size=1&mine=true${after}`),
    );
    seen.push(...content.map(({ stepName }: Pending) => stepName));
    if (lastSeenApprovalId === null) break;
    after = `&lastSeenApprovalId=${lastSeenApprovalId}`;
  }
  assert.deepEqual(seen, ["others", "twice"]);
  const bad = await ask("&lastSeenApprovalId=x");
  assert.deepEqual([bad.status, bad.body.message], [400, "lastSeenApprovalId [x] is no id of an approval."]);
});

test("a caller sees what waits in the pipelines that it may see, in all projects or in one", async () => {
  const apiKey = await addPipelineViewer(platform, "run_robot");
  assert.equal(await steps("", { apiKey }), "robot NOT_APPROVER");
  assert.equal(await steps(`&${SCOPE}`, { apiKey }), "robot NOT_APPROVER");
  await made(create.project(platform, projectYaml("q")));
  assert.equal(await steps("&orgIdentifier=default&projectIdentifier=q"), "");
  assert.equal((await ask("&orgIdentifier=default&projectIdentifier=none")).status, 404);
  assert.equal((await ask("&projectIdentifier=p")).status, 400);
  assert.equal((await ask("&orgIdentifier=default&projectIdentifier=q", { apiKey })).status, 403);
  const other = await platform.addAccount();
  const foreign = await ask("", { apiKey: other.apiKey, account: other.accountId });
  assert.deepEqual(foreign.body.data.content, []);
});

test("GraphQL answers the same", async () => {
  const query = `query ($of: String, $after: String) { pendingApprovals(applicationId: $of, mine: true, limit: 1, after: $after) {
    nodes { details { approvalId stepName stageName approvers variables { name value } } message pipelineName applicationId mayDecide } next } }`;
  const { body } = await platform.graphql(query);
  const { nodes, next } = body.data.pendingApprovals;
  const { approvalId, ...details } = nodes[0].details;
  assert.deepEqual(details, {
    ...{ stepName: "others", stageName: "Release stage", approvers: ["account._account_all_users"], variables: [] },
  });
  assert.deepEqual(
    [nodes[0].message, nodes[0].pipelineName, nodes[0].mayDecide, next],
    ["Release?", "run_others", true, approvalId],
  );
  const of = nodes[0].applicationId;
  const second = (await platform.graphql(query, { of, after: next })).body.data.pendingApprovals;
  assert.deepEqual([second.nodes[0].details.stepName, second.next], ["twice", null]);
  const none = { pendingApprovals: { nodes: [], next: null } };
  assert.deepEqual((await platform.graphql(query, { of: "x" })).body.data, none);
});

test("of very many that others may decide a page reads a part, and says where the next one goes on", async () => {
  await platform.db.query(
    `insert into approval_instances (account_id, id, execution_id, node_id, status, request, activities, actors, created_at, updated_at)
     select account_id, uuidv7(), execution_id, gen_random_uuid(), status, request, activities, actors, created_at, updated_at
       from approval_instances, generate_series(1, 2300) where execution_id = $1`,
    [fromWire(executions["robot"] ?? "")],
  );
  await wait("last");
  const first = await made(ask("&mine=true"));
  assert.deepEqual(
    first.content.map(({ stepName }: Pending) => stepName),
    ["others", "twice"],
  );
  const second = await made(ask(`&mine=true&lastSeenApprovalId=${first.lastSeenApprovalId}`));
  assert.deepEqual(
    second.content.map(({ stepName }: Pending) => stepName),
    ["last"],
  );
  assert.equal(second.lastSeenApprovalId, null);
  await platform.db.query("delete from approval_instances where node_id not in (select id from execution_nodes)");
});

test("a step of a damaged plan is listed without its names", async () => {
  const { content } = await made(ask());
  await platform.db.query("update executions set plan = '{}', stages = null");
  const found = await made(ask());
  const nameless = { stepName: "", stageIdentifier: "", stageName: "" };
  assert.deepEqual(
    found.content,
    content.map((one: object) => ({ ...one, ...nameless })),
  );
});

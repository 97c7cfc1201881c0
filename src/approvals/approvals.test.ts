/** Approval steps on a real database: who may act, what follows, and what happens at once. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  addApprovalPipeline,
  addStepsPipeline,
  approvalsOf,
  approvalStep,
  decide,
  decideByCallback,
  type ApprovalSketch,
} from "../../test/support/approvals.ts";
import { fromWire } from "../core/ids.ts";
import { JSON_TYPE, made } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { abortRun, createPipelines, detailOf, startRun, statusesOf } from "../../test/support/runs.ts";
import { assignServiceAccountRole, serviceToken } from "../../test/support/service-accounts.ts";

let platform: TestPlatform;
let ann: string;
let bob: string;
let eve: string;
const emails = new Map<string, string>();

async function person(): Promise<string> {
  const key = await platform.addUser("_account_viewer");
  const { data } = (await platform.send("GET", "/ng/api/user/currentUser", { apiKey: key })).body;
  emails.set(key, data.email);
  return key;
}

const idOf = async (apiKey: string): Promise<string> =>
  (await platform.send("GET", "/ng/api/user/currentUser", { apiKey })).body.data.uuid;

const post = (path: string, body: object) =>
  made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  [ann, bob, eve] = [await person(), await person(), await person()];
  const users = [await idOf(ann), await idOf(bob), await idOf(platform.apiKey)];
  const scope = "orgIdentifier=default&projectIdentifier=p";
  await post(`/ng/api/user-groups?${scope}`, { identifier: "approvers", name: "Approvers", users });
});
after(() => platform?.stop());

let count = 0;
/** Starts a run of a new pipeline with one approval, and answers what waits. */
async function waiting(sketch: Partial<ApprovalSketch> = {}) {
  const id = `a${(count += 1)}`;
  await addApprovalPipeline(platform, { id, ...sketch });
  const execution = await startRun(platform, `run_${id}`);
  const [approval] = await approvalsOf(platform, execution);
  const status = (): Promise<string> => statusesOf(platform, execution, id);
  const now = async () => (await approvalsOf(platform, execution)).at(-1);
  return { id, execution, approval, status, now };
}

test("a step waits with its reason, and one approval lets it go on", async () => {
  const { id, execution, approval, status, now } = await waiting();
  assert.equal(await status(), `ApprovalWaiting ${id}:ApprovalWaiting`);
  assert.deepEqual(
    { ...approval, id: "", node_execution_id: "" },
    {
      id: "",
      type: "PlatformApproval",
      status: "WAITING",
      node_execution_id: "",
      deadline: platform.clock.now() + 86_400_000,
      created: platform.clock.now(),
      updated: platform.clock.now(),
      error_message: null,
      details: {
        approvalMessage: "Release?",
        includePipelineExecutionHistory: true,
        approvers: {
          userGroups: ["approvers"],
          serviceAccounts: [],
          minimumCount: 1,
          disallowPipelineExecutor: false,
          disallowedUserEmails: [],
        },
        approverInputs: [],
        approvalActivities: [],
        validatedApprovalUserGroups: [
          {
            accountIdentifier: platform.accountId,
            orgIdentifier: "default",
            projectIdentifier: "p",
            identifier: "approvers",
            name: "Approvers",
          },
        ],
        autoRejectEnabled: false,
      },
    },
  );
  const node = (await detailOf(platform, execution)).step(id);
  assert.equal(node["uuid"], approval.node_execution_id);
  const answer = await decide(platform, approval.id, ann, { comments: "looks good" });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    [answer.body.data.status, answer.body.data.approvedByCurrentUser, answer.body.data.rejectedByCurrentUser],
    ["APPROVED", true, false],
  );
  assert.equal(await status(), `Success ${id}:Success`);
  const [entry] = await platform.db.query<{ resource: string; after: string }>(
    `select resource_id as resource, difference::text as after from audit_entries where operation = 'approval.approve'`,
  );
  assert.equal(entry?.resource, `run_${id}`);
  assert.match(entry.after, /looks good/);
  const { details } = await now();
  const [activity] = details.approvalActivities;
  assert.deepEqual(activity, {
    user: { name: activity.user.name, email: emails.get(ann) },
    ...{ action: "APPROVE", comments: "looks good", approverInputs: [], approvedAt: platform.clock.now() },
  });
});

test("a rejection fails the step with the error ApprovalRejection, and later steps do not run", async () => {
  const later = approvalStep({ id: "later" });
  const { id, execution, approval, status } = await waiting({ after: [later] });
  const answer = await decide(platform, approval.id, bob, { action: "REJECT", comments: "not today" });
  assert.equal(answer.body.data.status, "REJECTED", answer.text);
  assert.equal(await status(), `ApprovalRejected ${id}:ApprovalRejected`);
  const { step, summary } = await detailOf(platform, execution);
  assert.match(step(id)["failureInfo"].message, /was rejected by .*: not today$/);
  assert.match(summary.executionErrorInfo.message, /not today/);
  assert.equal((await approvalsOf(platform, execution)).length, 1);
});

test("the minimum count needs that many approvers, each once", async () => {
  const { id, execution, approval, status, now } = await waiting({ approvers: { minimumCount: 2 } });
  const first = await decide(platform, approval.id, ann);
  assert.equal(first.body.data.status, "WAITING", first.text);
  const reason = (await detailOf(platform, execution)).step(id)["waitReason"];
  assert.match(JSON.stringify(reason), /1 of 2 approvals by approvers/);
  const again = await decide(platform, approval.id, ann);
  assert.deepEqual([again.status, again.body.code], [400, "INVALID_REQUEST"]);
  assert.match(again.body.message, /already acted/);
  assert.equal((await approvalsOf(platform, execution)).length, 1);
  await decide(platform, approval.id, bob);
  assert.equal(await status(), `Success ${id}:Success`);
  assert.equal((await now()).details.approvalActivities.length, 2);
});

test("others than the approvers are refused, and nothing changes", async () => {
  const { approval, now } = await waiting({ approvers: { disallowedUserEmails: [emails.get(bob)?.toUpperCase()] } });
  for (const [key, message] of [
    [eve, /not an approver/],
    [bob, /does not allow/],
  ] as const) {
    const answer = await decide(platform, approval.id, key);
    assert.deepEqual([answer.status, answer.body.code], [403, "INVALID_REQUEST"], answer.text);
    assert.match(answer.body.message, message);
  }
  const stranger = await platform.addAccount();
  const elsewhere = await platform.send("POST", `/pipeline/api/approvals/${approval.id}/platform/activity`, {
    ...{ apiKey: stranger.apiKey, account: stranger.accountId, contentType: JSON_TYPE },
    body: '{"action":"APPROVE"}',
  });
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  assert.deepEqual((await now()).details.approvalActivities, []);
});

test("who started the execution may be disallowed", async () => {
  const { approval, status, id } = await waiting({ approvers: { disallowPipelineExecutor: true } });
  const own = await decide(platform, approval.id, platform.apiKey);
  assert.equal(own.status, 403);
  assert.match(own.body.message, /You started the execution/);
  assert.equal((await decide(platform, approval.id, ann)).status, 200);
  assert.equal(await status(), `Success ${id}:Success`);
});

test("the owner of the trigger that started the execution counts as who started it", async () => {
  const id = `a${(count += 1)}`;
  await addApprovalPipeline(platform, { id, approvers: { disallowPipelineExecutor: true } });
  const trigger = {
    ...{ name: "Hook", identifier: "hook", orgIdentifier: "default", projectIdentifier: "p" },
    pipelineIdentifier: `run_${id}`,
    source: { type: "Webhook", spec: { type: "Custom", spec: { payloadConditions: [], headerConditions: [] } } },
  };
  const path = `/pipeline/api/triggers?orgIdentifier=default&projectIdentifier=p&targetIdentifier=run_${id}`;
  const { webhookUrl } = await post(path, { trigger });
  const called = await fetch(webhookUrl, { method: "POST", body: "{}", headers: { "content-type": JSON_TYPE } });
  assert.equal(called.status, 200);
  await platform.platform.sweep();
  const { data } = (await platform.graphql("{ executions(limit: 1) { nodes { id } } }")).body;
  const [approval] = await approvalsOf(platform, data.executions.nodes[0].id);
  const own = await decide(platform, approval.id, platform.apiKey);
  assert.match(own.body.message, /You started the execution/);
  assert.equal((await decide(platform, approval.id, ann)).status, 200);
});

test("members are those at the time of the decision", async () => {
  const scope = "orgIdentifier=default&projectIdentifier=p";
  await post(`/ng/api/user-groups?${scope}`, { identifier: "late", name: "Late", users: [] });
  const { approval } = await waiting({ approvers: { userGroups: ["late"] } });
  assert.equal((await decide(platform, approval.id, eve)).status, 403);
  await made(platform.send("PUT", `/ng/api/user-groups/late/member/${await idOf(eve)}?${scope}`));
  assert.equal((await decide(platform, approval.id, eve)).status, 200);
});

test("every user of the account may be an approver; groups by role may not be named", async () => {
  const { approval } = await waiting({ approvers: { userGroups: ["account._account_all_users"] } });
  assert.equal((await decide(platform, approval.id, eve)).status, 200);
  await assert.rejects(
    waiting({ approvers: { userGroups: ["_project_all_users"] } }),
    /userGroups\[0\].*built-in group cannot approve/s,
  );
});

test("a service account that is named approves", async () => {
  await post("/ng/api/serviceaccount", { identifier: "bot", name: "Bot" });
  const token = await serviceToken(platform, "bot");
  await assignServiceAccountRole(platform, "bot", "_account_viewer");
  const { approval } = await waiting({ approvers: { userGroups: [], serviceAccounts: ["account.bot"] } });
  assert.equal((await decide(platform, approval.id, ann)).status, 403);
  assert.equal((await decide(platform, approval.id, token)).status, 200);
});

test("of two decisions at once one counts", async () => {
  for (const action of ["APPROVE", "REJECT"] as const) {
    const { approval, status, id, now } = await waiting();
    const answers = await Promise.all([
      decide(platform, approval.id, ann, { action: "APPROVE" }),
      decide(platform, approval.id, bob, { action }),
    ]);
    assert.deepEqual(
      answers.map((one) => one.status).toSorted((a, b) => a - b),
      [200, 400],
    );
    const lost = answers.find((one) => one.status === 400);
    assert.match(lost?.body.message, /does not wait any more: its status is (APPROVED|REJECTED)/);
    const { status: outcome, details } = await now();
    assert.equal(details.approvalActivities.length, 1);
    assert.equal(
      await status(),
      outcome === "APPROVED" ? `Success ${id}:Success` : `ApprovalRejected ${id}:ApprovalRejected`,
    );
  }
});

test("of an approval and an abort at once one decides", async () => {
  const seen = new Set<string>();
  for (let times = 0; times < 6; times += 1) {
    const { approval, execution, status, id, now } = await waiting();
    const work = [() => abortRun(platform, execution), () => decide(platform, approval.id, ann)];
    const [first, second] = await Promise.all((times % 2 ? work : work.toReversed()).map((one) => one()));
    assert.deepEqual([first?.status, second?.status].includes(200), true);
    const outcome = (await now()).status;
    seen.add(outcome);
    assert.equal(await status(), outcome === "APPROVED" ? `Success ${id}:Success` : `Aborted ${id}:Aborted`);
  }
  for (const outcome of seen) assert.match(outcome, /^(APPROVED|ABORTED)$/);
});

test("an abort ends the approval, and nobody can act on it", async () => {
  const { approval, execution, now } = await waiting();
  await made(abortRun(platform, execution));
  assert.equal((await now()).status, "ABORTED");
  const late = await decide(platform, approval.id, ann);
  assert.match(late.body.message, /does not wait any more: its status is ABORTED/);
});

test("the timeout of the step expires the approval", async () => {
  const { id, status, now } = await waiting({ timeout: "2h" });
  platform.clock.advance(2 * 3_600_000);
  await platform.platform.sweep();
  assert.equal(await status(), `Expired ${id}:Expired`);
  const { status: ended, error_message: message } = await now();
  assert.deepEqual([ended, /timed out|timeout|time/i.test(message)], ["EXPIRED", true]);
});

test("approver inputs are checked, and steps read them", async () => {
  const approverInputs = [
    { name: "tag", regex: "v\\d+", required: true },
    { name: "region", selectManyFrom: ["eu", "us", "ap"], defaultValue: "eu" },
    { name: "why" },
  ];
  const next = approvalStep({
    id: "next",
    spec: {
      approvalMessage:
        "<+steps.ID.output.approverInputs.tag> in <+steps.ID.output.approverInputs.region>, said <+approval.approvalActivities[0].user.email>: <+approval.approvalActivities[0].comments>".replaceAll(
          "ID",
          `a${count + 1}`,
        ),
    },
  });
  const { approval, execution } = await waiting({ spec: { approverInputs }, after: [next] });
  const refused = [
    [[], /'tag' needs a value/],
    [[{ name: "tag", value: "1" }], /'tag' does not match v\\d\+/],
    [[{ name: "other", value: "1" }], /has no approver input 'other'/],
    [
      [
        { name: "tag", value: "v1" },
        { name: "tag", value: "v2" },
      ],
      /given twice/,
    ],
    [
      [
        { name: "tag", value: "v1" },
        { name: "region", value: "eu,mars" },
      ],
      /has 'mars', which is not one of eu, us, ap/,
    ],
  ] as const;
  for (const [inputs, message] of refused) {
    const answer = await decide(platform, approval.id, ann, { approverInputs: inputs });
    assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"], answer.text);
    assert.match(answer.body.message, message);
  }
  const approverInputsGiven = [
    { name: "tag", value: "v12" },
    { name: "region", value: "us,eu" },
  ];
  const answer = await decide(platform, approval.id, ann, { approverInputs: approverInputsGiven, comments: "ship" });
  assert.equal(answer.status, 200, answer.text);
  const [, second] = await approvalsOf(platform, execution);
  assert.equal(second.details.approvalMessage, `v12 in us,eu, said ${emails.get(ann)}: ship`);
});

test("a program decides by the callbackId", async () => {
  const { execution, id, status } = await waiting({ spec: { callbackId: "release-<+pipeline.identifier>" } });
  const wrong = await decideByCallback(platform, execution, "other", ann);
  assert.deepEqual([wrong.status, wrong.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  const answer = await decideByCallback(platform, execution, `release-run_${id}`, ann);
  assert.equal(answer.body.status, "APPROVED", answer.text);
  assert.equal(await status(), `Success ${id}:Success`);
});

const at = (ms: number): string => {
  const text = new Date(ms).toISOString();
  const hour = Number(text.slice(11, 13));
  const twelve = String(hour % 12 === 0 ? 12 : hour % 12).padStart(2, "0");
  return `${text.slice(0, 10)} ${twelve}:${text.slice(14, 16)} ${hour < 12 ? "AM" : "PM"}`;
};
const scheduled = (ms: number): object => ({
  autoApproval: {
    action: "APPROVE",
    scheduledDeadline: { time: at(ms), timeZone: "UTC" },
    comments: "by <+pipeline.name>",
  },
});

test("a callbackId that two steps have decides none of them; comments have a limit", async () => {
  const spec = { callbackId: "twin" };
  const id = `twins${(count += 1)}`;
  const parallel = ["left", "right"].map((one) => approvalStep({ id: one, spec }));
  await addStepsPipeline(platform, { id }, [{ parallel }]);
  const execution = await startRun(platform, `run_${id}`);
  const refused = await decideByCallback(platform, execution, "twin", ann);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.body.message, /twin/);
  const [first] = await approvalsOf(platform, execution);
  const long = await decide(platform, first.id, ann, { comments: "x".repeat(16_385) });
  assert.match(long.body.message, /16385.*16384/);
  assert.equal(await statusesOf(platform, execution, "left"), "ApprovalWaiting left:ApprovalWaiting");
  await abortRun(platform, execution);
});

test("a default that has come to a value that is not allowed fails the step", async () => {
  const input = { name: "color", defaultValue: "<+pipeline.name>", allowedValues: ["red", "green"] };
  const { execution, id } = await waiting({ spec: { approverInputs: [input] } });
  const { step } = await detailOf(platform, execution);
  assert.match(step(id)["failureInfo"].message, /The default of the approver input 'color' is not one of red, green/);
});

test("a scheduled approval approves at its time; one whose time has passed fails the step", async () => {
  const { id, status, now } = await waiting({ spec: scheduled(platform.clock.now() + 3_600_000) });
  await platform.platform.sweep();
  assert.equal(await status(), `ApprovalWaiting ${id}:ApprovalWaiting`);
  platform.clock.advance(3_600_000);
  await platform.platform.sweep();
  assert.equal(await status(), `Success ${id}:Success`);
  const { status: ended, details } = await now();
  assert.deepEqual(
    [ended, details.approvalActivities[0].user],
    ["APPROVED", { name: "Scheduled approval", email: "" }],
  );
  assert.equal(details.approvalActivities[0].comments, `by run_${id}`);
  const late = await waiting({ spec: scheduled(platform.clock.now() - 60_000) });
  assert.equal(late.approval, undefined);
  const { status: failed, step } = await detailOf(platform, late.execution);
  assert.equal(failed, "Failed");
  assert.match(step(late.id)["failureInfo"].message, /its scheduled deadline .* has passed/);
});

test("lists filter by status, type and node", async () => {
  const { execution, approval } = await waiting();
  const ids = async (query: string): Promise<string[]> =>
    (await approvalsOf(platform, execution, query)).map(({ id }) => id);
  assert.deepEqual(await ids("?approval_status=WAITING&approval_type=PlatformApproval"), [approval.id]);
  assert.deepEqual(await ids(`?node_execution_id=${approval.node_execution_id}`), [approval.id]);
  assert.deepEqual(await ids("?approval_status=APPROVED"), []);
  assert.deepEqual(await ids("?approval_type=JiraApproval"), []);
  assert.deepEqual(await ids(`?node_execution_id=${execution}`), []);
  const bad = await platform.send(
    "GET",
    `/v1/orgs/default/projects/p/approvals/execution/${execution}?approval_status=x`,
  );
  assert.equal(bad.status, 400);
  const elsewhere = await platform.send("GET", `/v1/orgs/default/projects/q/approvals/execution/${execution}`);
  assert.equal(elsewhere.status, 404);
});

test("GraphQL shows what waits, and approves it", async () => {
  const { id, execution, approval, status } = await waiting({
    spec: { approverInputs: [{ name: "x", defaultValue: "1" }] },
  });
  const { data: found } = (await platform.graphql(`{ execution(executionId: "${execution}") { application { id } } }`))
    .body;
  const applicationId = found.execution.application.id;
  const fields = `approvalDetails { approvalId approvalType stepName stageName startedAt willExpireAt executionId
    approvers variables { name value } triggeredBy { name email } }`;
  const asked = `approvalDetails(applicationId: "${applicationId}", executionId: "${execution}") { ${fields} }`;
  const { body } = await platform.graphql(`{ ${asked} }`);
  const [detail] = body.data.approvalDetails.approvalDetails;
  assert.deepEqual(
    { ...detail, triggeredBy: null },
    {
      ...{ approvalId: approval.id, approvalType: "USER_GROUP", stepName: id, stageName: "Release stage" },
      ...{ startedAt: String(approval.created), willExpireAt: String(approval.deadline), executionId: execution },
      ...{ approvers: ["approvers"], variables: [{ name: "x", value: "1" }], triggeredBy: null },
    },
  );
  const act = (application: string) =>
    platform.graphql(
      `mutation ($input: ApproveOrRejectApprovalsInput!) { approveOrRejectApprovals(input: $input) { success clientMutationId } }`,
      {
        input: {
          ...{ approvalId: approval.id, action: "APPROVE", applicationId: application, executionId: execution },
          ...{ comments: "c", variableInputs: [{ name: "x", value: "2" }], clientMutationId: "m" },
        },
      },
    );
  assert.match((await act(execution)).body.errors[0].message, /not found/);
  const done = await act(applicationId);
  assert.deepEqual(done.body.data, { approveOrRejectApprovals: { success: true, clientMutationId: "m" } }, done.text);
  assert.equal(await status(), `Success ${id}:Success`);
  assert.deepEqual((await platform.graphql(`{ ${asked} }`)).body.data.approvalDetails.approvalDetails, []);
});

test("an execution that cannot be advanced ends its approvals", async () => {
  const { approval, execution, now } = await waiting();
  await platform.db.query("update executions set header = '{}' where id = $1", [fromWire(execution)]);
  // The first event finds the damage.
  const answer = await decide(platform, approval.id, ann);
  assert.match(answer.body.message, /does not wait any more: its status is FAILED/);
  const { status, error_message: message } = await now();
  assert.deepEqual([status, message], ["FAILED", "The execution could not go on."]);
  const { summary } = await detailOf(platform, execution);
  assert.equal(summary.status, "Errored");
});

test("an abort that finds the damage ends the approvals, too", async () => {
  const { execution, now } = await waiting();
  await platform.db.query("update executions set header = '{}' where id = $1", [fromWire(execution)]);
  await abortRun(platform, execution);
  const { status, error_message: message } = await now();
  assert.deepEqual([status, message], ["FAILED", "The execution could not go on."]);
});

test("deleted executions take their approvals along", async () => {
  const rows = await platform.db.query<{ rule: string }>(
    "select confdeltype as rule from pg_constraint where conrelid = 'approval_instances'::regclass and contype = 'f'",
  );
  assert.deepEqual(rows, [{ rule: "c" }]);
});

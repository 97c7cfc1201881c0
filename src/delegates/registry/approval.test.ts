/** Delegates that wait for approval, and those that are rejected or deleted, on two replicas. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createDbInterceptor } from "../../../test/support/db-interceptor.ts";
import { requestDuringChange } from "../../../test/support/request-during-change.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import {
  addPipeline,
  detailOf,
  waitForEnd,
  createPipelines,
  startRun,
  statusesOf,
} from "../../../test/support/runs.ts";
import { until } from "../../../test/support/until.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { READY_CHANNEL } from "../tasks/dispatch.ts";
import { STATES_CHANNEL } from "../session/state-refresher.ts";
import { existsConnected } from "../store/delegates.ts";

let platform: TestPlatform;
let replica: TestPlatform;
let token: string;
const gate = createDbInterceptor();

before(async () => {
  platform = await startTestPlatform({ wrapDb: gate.wrapDb });
  replica = await platform.replica();
  token = await newToken("hosts");
  await createPipelines(platform);
});
after(() => platform?.stop());
beforeEach(async () => {
  gate.forget();
  await requireApproval(true);
});

const JSON_TYPE = "application/json";
const newToken = async (name: string): Promise<string> =>
  (await platform.send("POST", `/gateway/ng/api/delegate-token-ng?tokenName=${name}`)).body.resource.value;

async function requireApproval(isRequired: boolean): Promise<void> {
  const setting = { identifier: "delegate_approval_required", value: String(isRequired), allowOverrides: false };
  const answer = await platform.send("PUT", "/ng/api/settings", {
    contentType: JSON_TYPE,
    body: JSON.stringify([{ ...setting, updateType: "UPDATE" }]),
  });
  assert.equal(answer.body.data[0].updateStatus, true, answer.text);
}

type Coming = { readonly on?: TestPlatform; readonly identity?: string; readonly token?: string };
/** A delegate whose tag is its name; its run takes one slot. */
const come = (name: string, { on = platform, ...coming }: Coming = {}): Promise<PretendDelegate> =>
  pretendDelegate({ url: on.url, token, name, tags: [`for-${name}`], slots: 1, ...coming });

async function welcomed(name: string, coming: Coming = {}): Promise<PretendDelegate & { readonly id: string }> {
  const delegate = await come(name, coming);
  return { ...delegate, id: (await delegate.next("welcome")).delegate };
}

const answerOf = (one: PretendDelegate): Promise<string> =>
  Promise.race([
    one.next("welcome").then(() => "welcome"),
    one.next("refused").then(({ code, message }) => `${code} ${message}`),
  ]);

async function assertRefused(one: PretendDelegate): Promise<void> {
  assert.match(await answerOf(one), /^ACCESS_DENIED Delegate \[.+\] was rejected or deleted\./);
  await one.closed;
}

async function start(name: string, script = "true", on = platform): Promise<string> {
  const pipeline = name.replaceAll("-", "_");
  await addPipeline(platform, { id: pipeline, steps: [{ id: "a", selectors: [`for-${name}`], script }] });
  return startRun(on, pipeline);
}

const DELEGATE = `ip hostName delegateName uuid accountId delegateProfileId delegateType description lastHeartBeat
  polllingModeEnabled status version`;
const decide = (delegateId: string, delegateApproval: "ACTIVATE" | "REJECT", more = {}): Promise<Answer> =>
  platform.graphql(
    `mutation ($input: DelegateApproveRejectInput!) {
      delegateApproveReject(input: $input) { clientMutationId delegate { ${DELEGATE} } } }`,
    { input: { accountId: platform.accountId, delegateId, delegateApproval, ...more } },
  );
const remove = (delegateId: string, more = {}): Promise<Answer> =>
  platform.graphql("mutation ($input: DeleteDelegateInput!) { deleteDelegate(input: $input) { clientMutationId } }", {
    input: { accountId: platform.accountId, delegateId, ...more },
  });
async function decided(delegateId: string, approval: "ACTIVATE" | "REJECT"): Promise<string> {
  const { body, text } = await decide(delegateId, approval);
  assert.ok(body.data?.delegateApproveReject, text);
  return body.data.delegateApproveReject.delegate.status;
}
async function removed(delegateId: string): Promise<void> {
  const { body, text } = await remove(delegateId, { clientMutationId: "bye" });
  assert.deepEqual(body.data?.deleteDelegate, { clientMutationId: "bye" }, text);
}

async function statusOf(delegateName: string): Promise<readonly string[]> {
  const query = "query ($f: [DelegateFilter]) { delegateList(limit: 10, filters: $f) { nodes { status connected } } }";
  const { body } = await platform.graphql(query, { f: { delegateName } });
  return body.data.delegateList.nodes.map((one: { status: string }) => one.status);
}
async function listed(status: string): Promise<readonly string[]> {
  const answer = await platform.send("POST", "/ng/api/delegate-setup/listDelegates", {
    contentType: JSON_TYPE,
    body: JSON.stringify({ filterType: "Delegate", status }),
  });
  for (const one of answer.body.resource)
    if (status.includes("_") || status === "DELETED") assert.equal(one.status, status);
  return answer.body.resource.map(({ delegateName }: { delegateName: string }) => delegateName);
}

const entries = (name: string): Promise<unknown[]> =>
  platform.db.query(
    `select operation, actor_kind as by from audit_entries where resource_type = 'DELEGATE' and resource_id = $1 order by id`,
    [name],
  );
const openTasks = (): Promise<unknown[]> =>
  platform.db.query("select status, delegate_id as holder from tasks where status <> 'finished'");

async function finishes(delegate: PretendDelegate, execution: string): Promise<void> {
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  assert.equal(await statusesOf(platform, execution), "Success");
}

test("a waiting delegate is connected and gets no task, on either replica; its activation brings the task", async () => {
  const accountId = fromWire(platform.accountId) ?? assert.fail();
  for (const [name, on] of [
    ["new-here", platform],
    ["new-there", replica],
  ] as const) {
    const delegate = await welcomed(name, { on });
    const execution = await start(name, "true", on);
    await Promise.all([platform.platform.reconcile(), replica.platform.reconcile()]);
    await delegate.roundTrip();
    assert.deepEqual(await openTasks(), [{ status: "ready", holder: null }]);
    assert.deepEqual(delegate.waiting(), []);
    assert.equal(await existsConnected(platform.db, accountId, { selectors: [`for-${name}`], since: 0 }), false);
    const { step } = await detailOf(platform, execution);
    const reason = `none that is connected has them and a free slot. Delegate ${name} waits for approval.`;
    assert.ok(String(step("a")["waitReason"]).endsWith(reason), String(step("a")["waitReason"]));
    assert.deepEqual(await statusOf(name), ["WAITING_FOR_APPROVAL"]);
    assert.deepEqual(await listed("WAITING_FOR_APPROVAL"), [name]);
    assert.ok((await listed("CONNECTED")).includes(name));
    assert.ok(!(await listed("ENABLED")).includes(name));
    assert.equal(await decided(delegate.id, "ACTIVATE"), "ENABLED");
    assert.equal(await existsConnected(platform.db, accountId, { selectors: [`for-${name}`], since: 0 }), true);
    await finishes(delegate, execution);
    assert.deepEqual(await listed("WAITING_FOR_APPROVAL"), []);
    assert.deepEqual(await entries(name), [
      { operation: "delegate.register", by: "delegate" },
      { operation: "delegate.approve", by: "user" },
    ]);
    // Repeated, as by a client that lost the answer: nothing is recorded again.
    assert.equal(await decided(delegate.id, "ACTIVATE"), "ENABLED");
    assert.equal((await entries(name)).length, 2);
    await delegate.close();
  }
});

test("the database leases nothing to a delegate that is not enabled, whatever its session says", async () => {
  const delegate = await welcomed("unheard");
  await decided(delegate.id, "ACTIVATE");
  await finishes(delegate, await start("unheard"));
  await platform.db.query("update delegates set status = 'WAITING_FOR_APPROVAL' where name = 'unheard'");
  await startRun(platform, "unheard");
  await delegate.roundTrip();
  await platform.platform.reconcile();
  await delegate.roundTrip();
  assert.deepEqual(await openTasks(), [{ status: "ready", holder: null }]);
  // Its session counts as enabled already, so that only the next look brings the task.
  await decided(delegate.id, "ACTIVATE");
  await platform.platform.reconcile();
  delegate.finish(await delegate.next("run"));
  await delegate.next("finishedAck");
  await delegate.close();
});

test("a missed notification: the next look of the replica activates it", async () => {
  const delegate = await welcomed("missed", { on: replica });
  gate.ignore(STATES_CHANNEL);
  const execution = await start("missed");
  await decided(delegate.id, "ACTIVATE");
  assert.deepEqual(delegate.waiting(), []);
  await replica.platform.reconcile();
  await finishes(delegate, execution);
  await delegate.close();
});

test("a rejected delegate is cut off and does not get in again, under another name neither", async () => {
  const identity = newIdentity();
  const delegate = await welcomed("rejected", { on: replica, identity });
  assert.equal(await decided(delegate.id, "REJECT"), "DELETED");
  await delegate.closed;
  await assertRefused(await come("rejected", { identity }));
  await assertRefused(await come("other-name", { identity, on: replica }));
  assert.deepEqual(await statusOf("other-name"), []);
  assert.deepEqual(await statusOf("rejected"), ["DELETED"]);
  assert.ok((await listed("DELETED")).includes("rejected"));
  assert.deepEqual(await entries("rejected"), [
    { operation: "delegate.register", by: "delegate" },
    { operation: "delegate.reject", by: "user" },
  ]);
});

test("an enabled delegate is not rejected; its deletion closes its sessions and frees the name", async () => {
  const identity = newIdentity();
  await requireApproval(false);
  const delegate = await welcomed("doomed", { on: replica, identity });
  const refused = await decide(delegate.id, "REJECT");
  assert.match(refused.body.errors[0].message, /Delegate \[doomed\] does not wait for approval/);
  assert.deepEqual(await statusOf("doomed"), ["ENABLED"]);
  await removed(delegate.id);
  await delegate.closed;
  await assertRefused(await come("doomed", { identity }));
  assert.deepEqual((await entries("doomed")).at(-1), { operation: "delegate.delete", by: "user" });
  // Deleted again, or named by the tags: there is none.
  assert.match((await remove(delegate.id)).body.errors[0].message, /not found/);
  const tags = `/gateway/api/delegate/${delegate.id}/delegate-tags?accountId=${platform.accountId}`;
  assert.equal((await platform.send("GET", tags)).status, 404);
  await requireApproval(true);
  const heir = await welcomed("doomed");
  assert.notEqual(heir.id, delegate.id);
  assert.deepEqual(await statusOf("doomed"), ["DELETED", "WAITING_FOR_APPROVAL"]);
  const groups = await platform.send("GET", "/ng/api/delegate-token-ng/delegate-groups?delegateTokenName=hosts");
  const names: string[] = groups.body.resource.map(({ name }: { name: string }) => name);
  assert.equal(names.filter((name) => name === "doomed").length, 1);
  await decided(heir.id, "ACTIVATE");
  await finishes(heir, await start("doomed"));
  await heir.close();
});

test("what a deleted delegate held is lost after a minute", async () => {
  const delegate = await welcomed("holder");
  await decided(delegate.id, "ACTIVATE");
  const execution = await start("holder");
  await delegate.next("run");
  await removed(delegate.id);
  await delegate.closed;
  await platform.platform.reconcile();
  for (let second = 0; second <= 60; second += 20) {
    platform.clock.advance(20_000);
    await platform.platform.reconcile();
  }
  assert.equal(await waitForEnd(platform, execution), "FAILED");
});

test("no secret goes to a delegate that was deleted after it got the lease, and the task is for others", async () => {
  const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name: "s", value: "what was sealed" } };
  const mutation = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
  assert.ok((await platform.graphql(mutation, { input })).body.data?.createSecret);
  const delegate = await welcomed("leased");
  // A session that expects waiting tasks would not get the new one by its insert.
  gate.ignore(READY_CHANNEL);
  await gate.afterLookup(() => decided(delegate.id, "ACTIVATE"));
  gate.ignore(STATES_CHANNEL);
  const leasing = gate.stopAt(/insert into tasks/);
  const starting = start("leased", 'echo <+secrets.getValue("account.s")>');
  await leasing.reached;
  // As by another server, of whose notification nothing is heard.
  await platform.db.query("update delegates set status = 'DELETED' where name = 'leased'");
  leasing.open();
  const execution = await starting;
  await platform.platform.reconcile();
  await delegate.closed;
  assert.deepEqual(delegate.waiting(), []);
  const heir = await welcomed("leased");
  await decided(heir.id, "ACTIVATE");
  await platform.platform.reconcile();
  await finishes(heir, execution);
  await heir.close();
});

test("a hello that comes while a deletion is being committed waits for it, and is refused", async () => {
  const identity = newIdentity();
  const delegate = await welcomed("between", { identity });
  await delegate.close();
  const again = await requestDuringChange(
    platform.db,
    (tx) => tx.query("update delegates set status = 'DELETED' where name = 'between'"),
    async () => {
      const one = await come("between", { identity, on: replica });
      await assertRefused(one);
      return one;
    },
  );
  assert.deepEqual(again.waiting(), []);
});

async function assertNameReserved(one: PretendDelegate, name: string): Promise<void> {
  const refusal = `^DUPLICATE_DELEGATE_EXCEPTION Delegate \\[${name}\\] is registered from another work folder`;
  assert.match(await answerOf(one), new RegExp(refusal));
  await one.closed;
}

test("delegates from before stay enabled, and keep their names for their work folders", async () => {
  await requireApproval(false);
  const identity = newIdentity();
  const before = await welcomed("before", { identity });
  await requireApproval(true);
  await before.close();
  const again = await welcomed("before", { identity, on: replica });
  await finishes(again, await start("before"));
  await again.close();
  platform.clock.advance(61_000);
  await assertNameReserved(await come("before"), "before");
  assert.deepEqual(await statusOf("before"), ["ENABLED"]);
  const returned = await welcomed("before", { identity });
  assert.equal(returned.id, before.id);
  await removed(before.id);
  await returned.closed;
  const taker = await welcomed("before");
  assert.notEqual(taker.id, before.id);
  assert.deepEqual(await statusOf("before"), ["DELETED", "WAITING_FOR_APPROVAL"]);
  await taker.close();
});

test("who is activated is who was listed: no other work folder takes the name of a delegate that waits", async () => {
  const identity = newIdentity();
  const listed = await welcomed("listed", { identity });
  await listed.close();
  platform.clock.advance(61_000);
  await assertNameReserved(await come("listed", { on: replica }), "listed");
  assert.equal(await decided(listed.id, "ACTIVATE"), "ENABLED");
  await assertNameReserved(await come("listed"), "listed");
  const returned = await welcomed("listed", { identity });
  await finishes(returned, await start("listed"));
  await returned.close();
});

/** Further delegates that wait like this one, of the same token; their names end with 1 to `count`. */
const addWaiting = (name: string, count: number): Promise<unknown> =>
  platform.db.query(
    `insert into delegates (account_id, id, token_id, name, identity_hash, tags, host, version, boot_id, slots, seen_at,
                            created_at, declared_tags, status, unavailable)
     select account_id, gen_random_uuid(), token_id, $1 || '-' || n, sha256(($1 || n)::bytea), tags, host, version, boot_id,
            slots, seen_at, created_at, declared_tags, status, unavailable
       from delegates, generate_series(1, $2) n where name = $1 || '-0'`,
    [name, count],
  );

test("of two hellos at one time for the last of the hundred places, on two replicas, one is refused", async () => {
  const rush = await newToken("rush");
  const first = await welcomed("rush-0", { token: rush });
  await first.close();
  await addWaiting("rush", 98);
  const counting = gate.stopAt(/status = 'WAITING_FOR_APPROVAL'/);
  const one = await come("rush-99", { token: rush });
  await counting.reached;
  const other = await come("rush-100", { token: rush, on: replica });
  let isAnswered = false;
  const answer = answerOf(other).finally(() => (isAnswered = true));
  const waits = (): Promise<unknown[]> =>
    platform.db.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
  await until(async () => isAnswered || (await waits()).length > 0, Boolean);
  counting.open();
  assert.equal(await answerOf(one), "welcome");
  assert.match(await answer, /100 delegates of this token wait for approval already/);
  for (const delegate of [one, other]) await delegate.close();
});

test("a delegate that waits does not come by another token of which a hundred wait", async () => {
  const [full, spare] = [await newToken("full"), await newToken("spare")];
  const identity = newIdentity();
  const first = await welcomed("full-0", { token: full });
  await addWaiting("full", 99);
  const moving = await welcomed("moving", { token: spare, identity });
  await moving.close();
  const refused = await come("moving", { token: full, identity });
  assert.match(await answerOf(refused), /100 delegates of this token wait for approval already/);
  const returned = await welcomed("moving", { token: spare, identity });
  assert.equal(returned.id, moving.id);
  for (const one of [first, refused, returned]) await one.close();
});

test("of one token a hundred delegates wait at most, and others are not held up by them", async () => {
  const flood = await newToken("flood");
  const first = await welcomed("flood-0", { token: flood });
  await first.close();
  await addWaiting("flood", 99);
  const refused = await come("flood-100", { token: flood });
  assert.match((await refused.next("refused")).message, /^100 delegates of this token wait for approval already/);
  await refused.closed;
  const other = await welcomed("not-of-the-flood");
  assert.ok((await listed("WAITING_FOR_APPROVAL")).includes("not-of-the-flood"));
  await decided(first.id, "REJECT");
  const next = await welcomed("flood-100", { token: flood });
  for (const one of [other, next]) await one.close();
});

test("of one token a thousand delegates are registered at most, also without approval", async () => {
  await requireApproval(false);
  const many = await newToken("many");
  const first = await welcomed("many-0", { token: many });
  await first.close();
  await addWaiting("many", 998);
  const last = await welcomed("many-999", { token: many });
  const refused = await come("many-1000", { token: many, on: replica });
  assert.equal(
    await answerOf(refused),
    "INVALID_REQUEST This token has registered 1000 delegates. Delete those that are gone, or use another token.",
  );
  await refused.closed;
  const other = await welcomed("not-of-the-many");
  await removed(first.id);
  const next = await welcomed("many-1000", { token: many });
  for (const one of [last, other, next]) await one.close();
});

test("a delegate that waits records no other tags, and its approval records the ones that it has", async () => {
  const identity = newIdentity();
  for (const tags of [["a"], ["b"], ["c"]]) {
    const waiting = await pretendDelegate({ url: platform.url, token, name: "fickle", tags, slots: 1, identity });
    await waiting.next("welcome");
    await waiting.close();
  }
  assert.deepEqual(await entries("fickle"), [{ operation: "delegate.register", by: "delegate" }]);
  const [row] = await platform.db.query<{ id: Uuid }>("select id from delegates where name = 'fickle'", []);
  assert.ok(row);
  await decided(toWire(row.id), "ACTIVATE");
  const [approval] = await platform.db.query<{ difference: unknown }>(
    "select difference from audit_entries where operation = 'delegate.approve' and resource_id = 'fickle'",
    [],
  );
  assert.match(JSON.stringify(approval?.difference), /"field":"tags","after":\["c"\]/);
  const again = await pretendDelegate({ url: platform.url, token, name: "fickle", tags: ["d"], slots: 1, identity });
  await again.next("welcome");
  assert.deepEqual((await entries("fickle")).at(-1), { operation: "delegate-tags.declare", by: "delegate" });
  await again.close();
});

test("the server's own delegate does not wait; another one that came by its token does", async () => {
  const own = await platform.delegateToken();
  const local = await welcomed("local", { token: own });
  assert.deepEqual(await statusOf("local"), ["ENABLED"]);
  await local.close();
  platform.clock.advance(61_000);
  const moved = await welcomed("local", { token: own });
  assert.equal(moved.id, local.id);
  assert.deepEqual(await statusOf("local"), ["ENABLED"]);
  const borrower = await welcomed("borrower", { token: own });
  assert.deepEqual(await statusOf("borrower"), ["WAITING_FOR_APPROVAL"]);
  const named = await newToken("namesake");
  const namesake = await welcomed("namesake", { token: named });
  assert.deepEqual(await statusOf("namesake"), ["WAITING_FOR_APPROVAL"]);
  for (const one of [moved, borrower, namesake]) await one.close();
});

test("a delegate of another account is not found, another account is refused, and permissions are asked", async () => {
  const delegate = await welcomed("mine");
  const other = await platform.addAccount();
  const asOther = (call: string): Promise<Answer> =>
    platform.send("POST", `/gateway/api/graphql?accountId=${other.accountId}`, {
      apiKey: other.apiKey,
      contentType: JSON_TYPE,
      body: JSON.stringify({ query: `mutation { ${call} }` }),
    });
  const calls = (accountId: string): readonly string[] => [
    `deleteDelegate(input: { accountId: "${accountId}", delegateId: "${delegate.id}" }) { clientMutationId }`,
    `delegateApproveReject(input: { accountId: "${accountId}", delegateId: "${delegate.id}", delegateApproval: REJECT }) {
      clientMutationId }`,
  ];
  for (const call of calls(other.accountId))
    assert.match((await asOther(call)).body.errors[0].message, /Delegate with id or name \[.+\] not found/);
  for (const call of calls(platform.accountId))
    assert.match((await asOther(call)).body.errors[0].message, /not authorized/);
  const viewer = await platform.addUser("_account_viewer");
  for (const call of calls(platform.accountId)) {
    const { body } = await platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
      apiKey: viewer,
      contentType: JSON_TYPE,
      body: JSON.stringify({ query: `mutation { ${call} }` }),
    });
    assert.match(body.errors?.[0]?.message ?? "", /Missing permission|not authorized/);
  }
  for (const delegateId of ["nonsense", platform.accountId])
    assert.match((await decide(delegateId, "ACTIVATE")).body.errors[0].message, /not found/);
  assert.deepEqual(await statusOf("mine"), ["WAITING_FOR_APPROVAL"]);
  const { body } = await decide(delegate.id, "ACTIVATE", { clientMutationId: "m" });
  const { delegate: shown, clientMutationId } = body.data.delegateApproveReject;
  assert.equal(clientMutationId, "m");
  assert.deepEqual(
    { ...shown, lastHeartBeat: 0 },
    {
      ...{ ip: null, hostName: "test", delegateName: "mine", uuid: delegate.id, accountId: platform.accountId },
      ...{ delegateProfileId: null, delegateType: "SHELL_SCRIPT", description: null, lastHeartBeat: 0 },
      ...{ polllingModeEnabled: false, status: "ENABLED", version: "test" },
    },
  );
  await until(
    () => statusOf("mine"),
    ([status]) => status === "ENABLED",
  );
  await delegate.close();
});

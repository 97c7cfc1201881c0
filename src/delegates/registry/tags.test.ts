/** The tags of a delegate: the four methods of docs/contract.md, and how routing follows a change. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { requestDuringChange } from "../../../test/support/request-during-change.ts";
import { addPipeline, detailOf, createPipelines, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type PretendDelegate,
  type PretendOptions,
} from "../../../test/support/pretend-delegate.ts";

let platform: TestPlatform;
let replica: TestPlatform;
let token: string;
const opened: PretendDelegate[] = [];
const identity = newIdentity();

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  token = await platform.delegateToken();
  await createPipelines(platform, { id: "gpu", steps: [{ id: "a", selectors: ["gpu"] }] });
});
after(() => platform?.stop());
afterEach(async () => {
  for (const delegate of opened.splice(0)) await delegate.cut();
  await platform.db.query("update tasks set status = 'finished' where status <> 'finished'");
});

async function connect(options: Partial<PretendOptions> = {}): Promise<string> {
  const delegate = await pretendDelegate({ url: platform.url, token, name: "build", identity, ...options });
  opened.push(delegate);
  const { delegate: id } = await delegate.next("welcome");
  return id;
}
const last = (): PretendDelegate => opened.at(-1) as PretendDelegate;

const tagsOf = (id: string, method: string, tags?: unknown): Promise<Answer> =>
  platform.send(method, `/gateway/api/delegate/${id}/delegate-tags?accountId=${platform.accountId}`, {
    ...(tags === undefined ? {} : { contentType: "application/json", body: JSON.stringify({ tags }) }),
  });

test("get, add, replace, clear: the envelope and the tags of the contract", async () => {
  const delegateId = await connect({ tags: ["linux", "eu"] });
  const expected = (tags: readonly string[]) => ({
    metaData: {},
    resource: { accountId: platform.accountId, delegateId, delegateName: "build", tags },
    responseMessages: [],
  });
  const steps: readonly [string, unknown, readonly string[]][] = [
    ["GET", undefined, ["linux", "eu"]],
    ["POST", ["gpu", "eu", "gpu"], ["linux", "eu", "gpu"]],
    ["GET", undefined, ["linux", "eu", "gpu"]],
    ["POST", [], ["linux", "eu", "gpu"]],
    ["PUT", ["b", "a", "b"], ["b", "a"]],
    ["DELETE", undefined, []],
    ["GET", undefined, []],
    ["PUT", [], []],
  ];
  for (const [method, tags, result] of steps) {
    const answer = await tagsOf(delegateId, method, tags);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, expected(result), method);
  }
  const byName = await platform.send("GET", "/ng/api/delegate-group-tags/build");
  assert.deepEqual(byName.body.resource, {
    accountIdentifier: platform.accountId,
    orgIdentifier: null,
    projectIdentifier: null,
    name: "build",
    identifier: "build",
    tags: [],
  });
  const audit = await platform.db.query("select operation from audit_entries where resource_id = 'build' order by id");
  assert.deepEqual(
    audit.map(({ operation }) => operation),
    ["delegate.register", ...["add", "add", "replace", "replace", "replace"].map((verb) => `delegate-tags.${verb}`)],
  );
});

test("an unknown delegate is 404 in that envelope, alike for no id, another account's and none", async () => {
  const mine = await connect();
  const other = await platform.addAccount();
  const asOther = await platform.send("GET", `/api/delegate/${mine}/delegate-tags?accountId=${other.accountId}`, {
    apiKey: other.apiKey,
  });
  assert.equal(asOther.status, 404);
  for (const id of ["AAAAAAAAAAAAAAAAAAAAAA", "x", "%00", "a".repeat(200)])
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const answer = await tagsOf(id, method, method === "POST" || method === "PUT" ? ["a"] : undefined);
      assert.equal(answer.status, 404, `${method} ${id}: ${answer.text}`);
      const { metaData, resource, responseMessages, ...more } = answer.body;
      assert.deepEqual([metaData, resource, responseMessages[0].code, more], [{}, null, "RESOURCE_NOT_FOUND", {}]);
    }
});

test("bodies that are no list of tags are refused, and change nothing", async () => {
  const id = await connect({ tags: ["kept"] });
  await tagsOf(id, "PUT", ["kept"]);
  const bad: readonly unknown[] = ["a", [1], [""], ["x".repeat(129)], [null], {}, Array(65).fill("t")];
  for (const tags of bad) assert.equal((await tagsOf(id, "PUT", tags)).status, 400, JSON.stringify(tags));
  const many = Array.from({ length: 64 }, (_, at) => `t${at}`);
  assert.equal((await tagsOf(id, "PUT", many)).status, 200);
  const over = await tagsOf(id, "POST", ["one more"]);
  assert.deepEqual([over.status, over.body.responseMessages[0].code], [402, "USAGE_LIMITS_EXCEEDED"]);
  assert.deepEqual((await tagsOf(id, "GET")).body.resource.tags, many);
});

test("of two that add at once neither loses what the other added", async () => {
  const id = await connect({ tags: [] });
  await tagsOf(id, "PUT", ["first"]);
  const mine = await requestDuringChange(
    platform.db,
    (tx) => tx.query("update delegates set tags = tags || '{by hand}'::text[] where name = 'build'"),
    () => tagsOf(id, "POST", ["mine"]),
  );
  assert.deepEqual(mine.body.resource.tags, ["first", "by hand", "mine"]);
  assert.deepEqual((await tagsOf(id, "GET")).body.resource.tags, ["first", "by hand", "mine"]);
});

test("a change takes effect on routing at once, in both directions", async () => {
  const id = await connect({ tags: ["plain"] });
  await tagsOf(id, "PUT", []);
  const waiting = await startRun(platform, "gpu");
  assert.equal((await detailOf(platform, waiting)).step("a")["status"], "TaskWaiting");
  await tagsOf(id, "POST", ["gpu"]);
  last().finish(await last().next("run"));
  await last().next("finishedAck");
  assert.equal((await detailOf(platform, waiting)).status, "Success");
  await tagsOf(id, "DELETE");
  const late = await startRun(platform, "gpu");
  assert.equal((await detailOf(platform, late)).step("a")["status"], "TaskWaiting");
});

test("a change made through another replica reaches the delegate's own", async () => {
  const id = await connect({ tags: ["plain"] });
  await tagsOf(id, "PUT", []);
  await startRun(platform, "gpu");
  const answer = await replica.send("POST", `/api/delegate/${id}/delegate-tags?accountId=${platform.accountId}`, {
    contentType: "application/json",
    body: JSON.stringify({ tags: ["gpu"] }),
  });
  assert.equal(answer.status, 200, answer.text);
  last().finish(await last().next("run"));
  await last().next("finishedAck");
});

test("a notification that was missed is made good by the slow poll", async () => {
  const id = await connect({ tags: ["plain"] });
  await tagsOf(id, "PUT", []);
  await startRun(platform, "gpu");
  await platform.db.query("update delegates set tags = '{gpu}' where name = 'build'");
  await platform.platform.reconcile();
  last().finish(await last().next("run"));
  await last().next("finishedAck");
  assert.deepEqual((await tagsOf(id, "GET")).body.resource.tags, ["gpu"]);
});

test("edited tags outlive a reconnect; another declaration replaces them", async () => {
  const id = await connect({ tags: ["declared"] });
  await tagsOf(id, "PUT", ["edited"]);
  await last().cut();
  assert.equal(await connect({ tags: ["declared"] }), id);
  assert.deepEqual((await tagsOf(id, "GET")).body.resource.tags, ["edited"]);
  await addPipeline(platform, { id: "edited", steps: [{ id: "a", selectors: ["edited"] }] });
  await startRun(platform, "edited");
  last().finish(await last().next("run"));
  await last().next("finishedAck");
  await last().cut();
  await connect({ tags: ["declared", "more"] });
  assert.deepEqual((await tagsOf(id, "GET")).body.resource.tags, ["declared", "more"]);
});

test("by the name of its group: added, replaced and cleared like by its id", async () => {
  const id = await connect({ tags: ["declared", "by name"] });
  const steps: readonly [method: string, tags: readonly string[] | undefined, result: readonly string[]][] = [
    ["PUT", ["b", "a", "b"], ["b", "a"]],
    ["POST", ["c", "a"], ["b", "a", "c"]],
    ["GET", undefined, ["b", "a", "c"]],
    ["DELETE", undefined, []],
  ];
  for (const [method, tags, result] of steps) {
    const answer = await platform.send(method, "/gateway/ng/api/delegate-group-tags/build", {
      ...(tags === undefined ? {} : { contentType: "application/json", body: JSON.stringify({ tags }) }),
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.resource.tags, result, method);
    assert.deepEqual((await tagsOf(id, "GET")).body.resource.tags, result, method);
  }
});

test("the trail tells of a delegate's registration, of other tags in its hello, and of no reconnect without a change", async () => {
  const own = newIdentity();
  const entries = async (): Promise<unknown[]> =>
    (
      await platform.db.query<{ operation: string; kind: string; name: string; difference: unknown }>(
        `select operation, actor_kind as kind, actor_name as name, difference from audit_entries
          where resource_id = 'audited' order by at, id`,
      )
    ).map(({ operation, kind, name }) => `${operation} by ${kind} ${name}`);
  const registered = "delegate.register by delegate audited";
  const declared = "delegate-tags.declare by delegate audited";
  await connect({ name: "audited", identity: own, tags: ["a", "b"] });
  assert.deepEqual(await entries(), [registered]);
  await connect({ name: "audited", identity: own, tags: ["a", "b"] });
  await connect({ name: "audited", identity: own, tags: ["b", "a"] });
  assert.deepEqual(await entries(), [registered]);
  const id = await connect({ name: "audited", identity: own, tags: ["b"] });
  assert.deepEqual(await entries(), [registered, declared]);
  // Edited by hand: the same declaration as before changes nothing.
  await tagsOf(id, "PUT", ["c"]);
  await connect({ name: "audited", identity: own, tags: ["b"] });
  assert.equal((await entries()).length, 3);
  const [entry] = await platform.db.query<{ difference: unknown }>(
    "select difference from audit_entries where operation = 'delegate-tags.declare' and resource_id = 'audited'",
  );
  assert.match(JSON.stringify(entry?.difference), /"a"/);
});

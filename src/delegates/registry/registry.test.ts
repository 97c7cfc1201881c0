/** Tokens that delegates register with, and the lists of both. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { STATES_CHANNEL } from "../session/state-refresher.ts";

let platform: TestPlatform;
let replica: TestPlatform;
/** While it is true, nothing hears of changes through NOTIFY. */
let deaf = false;

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      listen: (channel, notified) =>
        db.listen(channel, (payload) => (deaf && channel === STATES_CHANNEL ? undefined : notified(payload))),
    }),
  });
  replica = await platform.replica();
});
after(() => platform?.stop());

const PATH = "/gateway/ng/api/delegate-token-ng";
const made = async (name: string): Promise<string> =>
  (await platform.send("POST", `${PATH}?tokenName=${name}`)).body.resource.value;
const revoke = (name: string, on = platform): Promise<Answer> => on.send("PUT", `${PATH}?tokenName=${name}`);
const connect = (token: string, name: string, url = platform.url): Promise<PretendDelegate> =>
  pretendDelegate({ url, token, name, identity: newIdentity() });

test("a token: its text once, then only that it is there", async () => {
  const created = await platform.send("POST", `${PATH}?tokenName=listed`);
  const { value, ...facts } = created.body.resource;
  assert.match(value, /^dlg\./);
  assert.deepEqual([facts.name, facts.status, facts.revokedAt], ["listed", "ACTIVE", null]);
  assert.deepEqual([facts.revokeAfter, facts.ownerIdentifier, facts.parentUniqueId], [null, null, null]);
  assert.equal(facts.createdByNgUser, facts.createdBy);
  const listed = await platform.send("GET", `${PATH}?name=listed`);
  assert.deepEqual(listed.body.resource, [{ ...facts, value: null }]);
  const again = await platform.send("POST", `${PATH}?tokenName=listed`);
  assert.deepEqual([again.status, again.body.responseMessages[0].code], [400, "DUPLICATE_FIELD"]);
  for (const name of ["a%0Ab", "a%09b", "%20a", "a/b"])
    assert.equal((await platform.send("POST", `${PATH}?tokenName=${name}`)).status, 400, name);
  const dump = await platform.db.query("select t::text from delegate_tokens t");
  assert.ok(!JSON.stringify(dump).includes(value.split(".").at(-1)));
});

test("revoked: its delegates drop at once, on every replica, and do not get in again", async () => {
  const token = await made("doomed");
  const [here, there] = [await connect(token, "here"), await connect(token, "there", replica.url)];
  await here.next("welcome");
  await there.next("welcome");
  const bystander = await connect(await made("other"), "bystander");
  await bystander.next("welcome");
  const answer = await revoke("doomed");
  assert.deepEqual([answer.status, answer.body.resource.status], [200, "REVOKED"]);
  assert.equal(answer.body.resource.revokedAt, platform.clock.now());
  await Promise.all([here.closed, there.closed]);
  await assert.rejects(connect(token, "here"), /401/);
  assert.equal((await revoke("doomed")).body.resource.revokedAt, platform.clock.now());
  const listed = await platform.send("GET", `${PATH}?status=REVOKED`);
  assert.deepEqual(
    listed.body.resource.map(({ name }: { name: string }) => name),
    ["doomed"],
  );
  await bystander.close();
});

test("a replica that missed the notification drops them with its next look", async () => {
  const delegate = await connect(await made("unheard"), "unheard");
  await delegate.next("welcome");
  deaf = true;
  try {
    await revoke("unheard", replica);
    await platform.platform.reconcile();
    await delegate.closed;
  } finally {
    deaf = false;
  }
});

test("revokeAfter: until then its delegates come and stay; from then on they are cut off, and the token is revoked", async () => {
  const at = platform.clock.now() + 60_000;
  const created = await platform.send("POST", `${PATH}?tokenName=passing&revokeAfter=${at}`);
  assert.deepEqual(
    [created.status, created.body.resource.revokeAfter, created.body.resource.status],
    [200, at, "ACTIVE"],
  );
  const { value } = created.body.resource;
  const [here, there] = [await connect(value, "passing-1"), await connect(value, "passing-2", replica.url)];
  await here.next("welcome");
  await there.next("welcome");
  platform.clock.advance(59_999);
  await platform.platform.sweep();
  const early = await connect(value, "passing-3");
  await early.next("welcome");
  assert.equal((await platform.send("GET", `${PATH}/passing`)).body.resource.status, "ACTIVE");
  platform.clock.advance(1);
  // A connection that begins now is refused before the sweep of any server.
  await assert.rejects(connect(value, "passing-4"), /401/);
  await Promise.all([platform.platform.sweep(), replica.platform.sweep()]);
  await Promise.all([here.closed, there.closed, early.closed]);
  const { status, revokedAt } = (await platform.send("GET", `${PATH}/passing`)).body.resource;
  assert.deepEqual([status, revokedAt], ["REVOKED", at]);
  const entries = await platform.db.query(
    "select actor_kind from audit_entries where operation = 'delegate-token.revoke' and resource_id = 'passing'",
  );
  assert.deepEqual(entries, [{ actor_kind: "system" }]);
  assert.equal((await platform.send("DELETE", `${PATH}/passing`)).status, 200);
});

test("revokeAfter that has passed, or is no moment, is refused, and nothing is made", async () => {
  for (const wrong of [`${platform.clock.now()}`, "0", "-1", "soon", "1.5", ""]) {
    const answer = await platform.send("POST", `${PATH}?tokenName=wrong&revokeAfter=${wrong}`);
    assert.equal(answer.status, 400, wrong);
    assert.match(answer.body.responseMessages[0].message, /revokeAfter takes a/);
  }
  for (const beyond of ["8640000000000001", "9".repeat(20)]) {
    const answer = await platform.send("POST", `${PATH}?tokenName=wrong&revokeAfter=${beyond}`);
    assert.equal(answer.status, 400);
    assert.match(
      answer.body.responseMessages[0].message,
      /revokeAfter is beyond the range of dates: the last moment is 8640000000000000/,
    );
  }
  assert.equal((await platform.send("GET", `${PATH}/wrong`)).status, 404);
});

test("each operation by the name in the path, and the groups that came by a token", async () => {
  const one = `${PATH}/by-path`;
  const created = await platform.send("POST", one);
  assert.equal(created.body.resource.name, "by-path");
  const delegate = await connect(created.body.resource.value, "in-group");
  await delegate.next("welcome");
  const groups = await platform.send("GET", `${PATH}/delegate-groups?delegateTokenName=by-path`);
  const group = { name: "in-group", identifier: "in-group", tags: [], orgIdentifier: null, projectIdentifier: null };
  assert.deepEqual(groups.body.resource, [{ accountIdentifier: platform.accountId, ...group }]);
  assert.equal((await platform.send("DELETE", one)).status, 402);
  assert.equal((await platform.send("PUT", one)).body.resource.status, "REVOKED");
  await delegate.closed;
  assert.equal((await platform.send("GET", one)).body.resource.value, null);
  assert.equal((await platform.send("DELETE", one)).body.resource, true);
  for (const [method, path] of [
    ["GET", one],
    ["PUT", one],
    ["DELETE", one],
    ["GET", `${PATH}/delegate-groups?delegateTokenName=by-path`],
  ] as const)
    assert.equal((await platform.send(method, path)).status, 404, `${method} ${path}`);
});

test("only a revoked token is deleted; then its name is free", async () => {
  await made("used");
  const live = await platform.send("DELETE", `${PATH}?tokenName=used`);
  assert.deepEqual([live.status, live.body.responseMessages[0].code], [402, "DELETE_NOT_ALLOWED"]);
  const token = await made("second");
  const delegate = await connect(token, "keeper");
  await delegate.next("welcome");
  await revoke("second");
  await delegate.closed;
  const gone = await platform.send("DELETE", `${PATH}?tokenName=second`);
  assert.deepEqual([gone.status, gone.body.resource], [200, true]);
  assert.deepEqual((await platform.send("GET", `${PATH}?name=second`)).body.resource, []);
  for (const method of ["PUT", "DELETE"])
    assert.equal((await platform.send(method, `${PATH}?tokenName=second`)).status, 404);
  await assert.rejects(connect(token, "keeper"), /401/);
  assert.match(await made("second"), /^dlg\./);
});

test("delegates: by status, name, tags and host, in REST and in GraphQL", async () => {
  const delegate = await pretendDelegate({
    url: platform.url,
    token: await made("list"),
    name: "seen",
    tags: ["a", "b"],
  });
  await delegate.next("welcome");
  const list = async (filter: object): Promise<readonly string[]> => {
    const { body, text } = await platform.send("POST", "/ng/api/delegate-setup/listDelegates", {
      contentType: "application/json",
      body: JSON.stringify({ filterType: "Delegate", ...filter }),
    });
    assert.ok(Array.isArray(body.resource), text);
    return body.resource.map((one: { delegateName: string }) => one.delegateName);
  };
  assert.deepEqual(await list({ delegateName: "seen" }), ["seen"]);
  assert.deepEqual(await list({ delegateTags: ["b", "a"] }), ["seen"]);
  assert.deepEqual(await list({ delegateTags: ["a", "c"] }), []);
  const holding = async (...tags: string[]): Promise<Answer> =>
    platform.send("POST", "/ng/api/delegate-group-tags/delegate-groups", {
      contentType: "application/json",
      body: JSON.stringify({ tags }),
    });
  const group = { name: "seen", identifier: "seen", tags: ["a", "b"], orgIdentifier: null, projectIdentifier: null };
  assert.deepEqual((await holding("b")).body, {
    metaData: {},
    resource: [{ accountIdentifier: platform.accountId, ...group }],
    responseMessages: [],
  });
  assert.deepEqual((await holding("b", "c")).body.resource, []);
  assert.equal((await holding()).status, 400);
  assert.ok((await list({ status: "CONNECTED" })).includes("seen"));
  assert.ok((await list({ status: "DELETED" })).includes("keeper"));
  assert.ok(!(await list({ status: "ENABLED" })).includes("keeper"));
  platform.clock.advance(61_000);
  assert.ok((await list({ status: "DISCONNECTED" })).includes("seen"));
  const refused = await platform.send("POST", "/ng/api/delegate-setup/listDelegates", {
    contentType: "application/json",
    body: '{"versionStatus":"ACTIVE"}',
  });
  assert.match(refused.body.responseMessages[0].message, /'versionStatus' is not supported yet/);

  const query = `query ($f: [DelegateFilter]) { delegateList(limit: 10, filters: $f) {
    nodes { uuid accountId delegateName delegateType hostName lastHeartBeat polllingModeEnabled status version tags }
    pageInfo { total } } }`;
  const { body } = await platform.graphql(query, { f: { delegateName: "seen", delegateStatus: "ENABLED" } });
  const [node] = body.data.delegateList.nodes;
  assert.match(node.uuid, /^[A-Za-z0-9_-]{22}$/);
  assert.deepEqual(
    { ...node, uuid: "", lastHeartBeat: 0 },
    {
      uuid: "",
      accountId: platform.accountId,
      delegateName: "seen",
      delegateType: "SHELL_SCRIPT",
      hostName: "test",
      lastHeartBeat: 0,
      polllingModeEnabled: false,
      status: "ENABLED",
      version: "test",
      tags: ["a", "b"],
    },
  );
  for (const filter of [
    { delegateName: "nobody" },
    [{ delegateName: "seen" }, { delegateName: "keeper" }],
    { delegateType: "DOCKER" },
    { delegateStatus: "WAITING_FOR_APPROVAL" },
  ])
    assert.deepEqual((await platform.graphql(query, { f: filter })).body.data.delegateList, {
      nodes: [],
      pageInfo: { total: 0 },
    });
  const foreign = await platform.graphql(query, { f: { accountId: "AAAAAAAAAAAAAAAAAAAAAA" } });
  assert.match(foreign.body.errors[0].message, /User not authorized/);
  await delegate.close();
});

test("the entry of a revocation says whether the token was revoked before, also when time passes meanwhile", async (t) => {
  await made("once");
  const now = platform.clock.now();
  let looks = 0;
  t.mock.method(platform.clock, "now", () => now + (looks += 1));
  for (const _ of [1, 2]) assert.equal((await revoke("once")).status, 200);
  t.mock.reset();
  const entries = await platform.db.query<{ changes: unknown }>(
    `select difference -> 'changes' as changes from audit_entries where operation = 'delegate-token.revoke' and resource_id = 'once' order by at, id`,
  );
  assert.deepEqual(entries, [{ changes: [{ field: "revoked", before: false, after: true }] }, { changes: [] }]);
});

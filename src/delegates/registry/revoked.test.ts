/** After a token is revoked or has expired, the connections that it opened get nothing more, on either replica. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createDbInterceptor } from "../../../test/support/db-interceptor.ts";
import { requestDuringChange } from "../../../test/support/request-during-change.ts";
import { createPipelines, startRun, statusesOf } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import {
  newIdentity,
  pretendDelegate,
  type Lease,
  type PretendDelegate,
} from "../../../test/support/pretend-delegate.ts";
import { until } from "../../../test/support/until.ts";
import { snapshot } from "../../../test/support/watch.ts";
import { HELLO_MS } from "../../../protocol/messages.ts";
import { PROTOCOL } from "../../../protocol/versions.ts";
import { READY_CHANNEL } from "../tasks/dispatch.ts";
import { STATES_CHANNEL } from "../session/state-refresher.ts";

const LOOKUP = /select asked\.id from unnest/;

let platform: TestPlatform;
let replica: TestPlatform;
const gate = createDbInterceptor();
/** Number of statements that look which tokens of connections have ended. */
let lookups = 0;

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) =>
      gate.wrapDb({
        ...db,
        query: (text, values) => {
          if (LOOKUP.test(text)) lookups += 1;
          return db.query(text, values);
        },
      }),
  });
  replica = await platform.replica();
  const value = "what was sealed";
  const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name: "s", value } };
  const mutation = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
  const made = await platform.graphql(mutation, { input });
  assert.ok(made.body.data?.createSecret, made.text);
  await createPipelines(
    platform,
    { id: "plain", steps: [{ id: "a", selectors: ["plain"] }] },
    { id: "secret", steps: [{ id: "a", selectors: ["secret"], script: 'echo <+secrets.getValue("account.s")>' }] },
  );
});
after(() => platform?.stop());
beforeEach(gate.forget);

const PATH = "/gateway/ng/api/delegate-token-ng";
async function made(name: string, more = ""): Promise<string> {
  const answer = await platform.send("POST", `${PATH}?tokenName=${name}${more}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.resource.value;
}
async function revoke(name: string, on = platform): Promise<void> {
  const answer = await on.send("PUT", `${PATH}?tokenName=${name}`);
  assert.equal(answer.status, 200, answer.text);
}
const silent = (token: string, on: TestPlatform): Promise<PretendDelegate> =>
  pretendDelegate({ url: on.url, token, silent: true });
/** A connection without a hello whose token was checked after it was opened: only a change after that ends it. */
async function caller(token: string, on: TestPlatform): Promise<PretendDelegate> {
  const one = await silent(token, on);
  await on.platform.reconcile();
  return one;
}
const hello = (name: string, identity = newIdentity()) => ({
  kind: "hello",
  protocol: PROTOCOL,
  identity,
  name,
  tags: ["plain"],
  host: "h",
  version: "v",
  bootId: "boot-1",
  slots: 1,
  holds: [],
});
/** Waits until the server has ended the connection; nothing was said over it but what the test has taken. */
async function assertCutOff(one: PretendDelegate): Promise<void> {
  let isClosed = false;
  void one.closed.then(() => (isClosed = true));
  await until(() => isClosed, Boolean);
  assert.deepEqual(one.waiting(), []);
}
/** The first of these that the server says. */
const verdict = (one: PretendDelegate): Promise<string> =>
  Promise.race([one.next("welcome"), one.next("refused")]).then(({ kind }) => kind);

async function assertRefused(one: PretendDelegate): Promise<void> {
  assert.equal(await verdict(one), "refused");
  await assertCutOff(one);
}

const delegates = (): Promise<unknown[]> =>
  platform.db.query("select to_jsonb(d) as row from delegates d order by d.id");

test("callers that have said no hello are cut off at once, on both replicas; those of other tokens are not", async () => {
  const token = await made("early");
  const callers = [await caller(token, platform), await caller(token, replica)];
  const bystander = await caller(await made("bystander"), replica);
  await revoke("early");
  for (const one of callers) await assertCutOff(one);
  bystander.send(hello("bystander"));
  assert.equal(await verdict(bystander), "welcome");
  await bystander.close();
});

test("connections that open while a look at the tokens takes long do not delay a revocation: one look is for all", async () => {
  const crowd = await made("crowd");
  const one = await caller(await made("behind"), platform);
  // The server notifies itself, too, perhaps after the look that is counted.
  gate.ignore(STATES_CHANNEL);
  const look = gate.stopAt(LOOKUP);
  const open = [await silent(crowd, platform)];
  await look.reached;
  for (let n = 0; n < 10; n += 1) open.push(await silent(crowd, platform));
  await revoke("behind");
  lookups = 0;
  look.open();
  await assertCutOff(one);
  assert.equal(lookups, 1);
  await Promise.all(open.map(({ cut }) => cut()));
});

test("where the notification was missed they are cut off with the next look", async () => {
  const one = await caller(await made("missed"), replica);
  gate.ignore(STATES_CHANNEL);
  await revoke("missed");
  await replica.platform.reconcile();
  await assertCutOff(one);
});

test("a token that is revoked between being believed and the connection's opening: it is cut off as well", async () => {
  const token = await made("between");
  gate.ignore(STATES_CHANNEL);
  const believed = gate.stopAt(/select secret_hash/);
  const coming = silent(token, platform);
  await believed.reached;
  await revoke("between", replica);
  believed.open();
  await (
    await coming
  ).closed;
});

test("a hello after the revocation is refused where nothing was heard of it, and after the token's deletion", async () => {
  const [token, identity] = [await made("late"), newIdentity()];
  const known = await pretendDelegate({ url: platform.url, token, name: "known", tags: ["plain"], slots: 1, identity });
  await known.next("welcome");
  await startRun(platform, "plain");
  const run = await known.next("run");
  const [revoked, deleted] = [await caller(token, replica), await caller(token, replica)];
  gate.ignore(STATES_CHANNEL);
  await revoke("late");
  await assertCutOff(known);
  const [tasks, rows] = [await snapshot(platform), await delegates()];
  // By the name of the one that holds a task: it would be sent again, with its secrets.
  revoked.send(hello("known", identity));
  await assertRefused(revoked);
  assert.equal((await platform.send("DELETE", `${PATH}?tokenName=late`)).status, 200);
  deleted.send(hello("new"));
  await assertRefused(deleted);
  assert.equal(await snapshot(platform), tasks);
  assert.deepEqual(await delegates(), rows);
  const heir = await pretendDelegate({ url: platform.url, token: await made("heir"), name: "known", identity });
  heir.finish(await heir.next("run"));
  assert.equal((await heir.next("finishedAck")).task, run.task);
  await heir.close();
});

test("a hello that comes while a revocation is being committed waits for it, and is refused", async () => {
  const one = await caller(await made("meanwhile"), replica);
  const kind = await requestDuringChange(
    platform.db,
    (tx) => tx.query("update delegate_tokens set revoked_at = 1 where name = 'meanwhile'"),
    () => {
      one.send(hello("meanwhile"));
      return verdict(one);
    },
  );
  assert.equal(kind, "refused");
});

test("a hello from the moment of revokeAfter on is refused before any server has looked; a silent caller is cut off", async () => {
  const at = platform.clock.now() + 5_000;
  const token = await made("timed", `&revokeAfter=${at}`);
  const [early, late, mute] = [
    await caller(token, replica),
    await caller(token, replica),
    await caller(token, replica),
  ];
  platform.clock.advance(4_999);
  early.send(hello("timed-1"));
  assert.equal(await verdict(early), "welcome");
  platform.clock.advance(1);
  late.send(hello("timed-2"));
  await assertRefused(late);
  await platform.platform.sweep();
  await Promise.all([mute, early].map(assertCutOff));
});

test("a caller that has said no hello in its time is cut off", async () => {
  const token = await made("slow");
  const [talks, mute] = [await caller(token, platform), await caller(token, platform)];
  platform.clock.advance(HELLO_MS);
  await platform.platform.reconcile();
  talks.send(hello("talks"));
  assert.equal(await verdict(talks), "welcome");
  platform.clock.advance(1);
  await platform.platform.reconcile();
  await assertCutOff(mute);
  talks.send({ kind: "log", task: "AZMAAAAAcACAAAAAAAAAAA", epoch: 1, offset: 0, data: "" });
  await talks.next("drop");
  await talks.close();
});

test("a session ends with the token that it came by, though its delegate has come by another one since", async () => {
  const identity = newIdentity();
  const stolen = { url: replica.url, token: await made("stolen"), name: "twice", identity };
  const thief = await pretendDelegate(stolen);
  await thief.next("welcome");
  const owner = await pretendDelegate({ ...stolen, url: platform.url, token: await made("owner") });
  await owner.next("welcome");
  await revoke("stolen");
  await assertCutOff(thief);
  owner.send({ kind: "log", task: "AZMAAAAAcACAAAAAAAAAAA", epoch: 1, offset: 0, data: "" });
  await owner.next("drop");
  await owner.close();
});

/** A session on the replica that stays open after its token's revocation, as nothing is heard of that there. */
async function unheard(name: string, tag: string, busy = async (_: PretendDelegate): Promise<unknown> => undefined) {
  const one = await pretendDelegate({ url: replica.url, token: await made(name), name, tags: [tag], slots: 1 });
  await one.next("welcome");
  await busy(one);
  gate.ignore(STATES_CHANNEL);
  await revoke(name);
  return one;
}

/** Who gets the task: the revoked one, or a delegate that comes for it. */
async function whoGets(revoked: PretendDelegate, tag: string): Promise<string> {
  const name = `heir-${newIdentity()}`;
  const heir = await pretendDelegate({ url: replica.url, token: await made(name), name, tags: [tag] });
  // It may be cut off by now: then it gets nothing.
  const none = new Promise<never>(() => undefined);
  const who = await Promise.race([
    heir.next("run").then((run) => (heir.finish(run), "heir")),
    revoked.next("run").then(
      () => "revoked",
      () => none,
    ),
  ]);
  if (who === "heir") await heir.next("finishedAck");
  await heir.close();
  return who;
}

const waits = async (): Promise<unknown> =>
  platform.db.query("select status, epoch, delegate_id, leased_at from tasks where status <> 'finished'");
const WAITING = [{ status: "ready", epoch: 0, delegate_id: null, leased_at: null }];

test("no task that is made is leased by a revoked token, heard of or not", async () => {
  const revoked = await unheard("unheard-1", "plain");
  await startRun(replica, "plain");
  assert.deepEqual(await waits(), WAITING);
  assert.equal(await whoGets(revoked, "plain"), "heir");
  assert.deepEqual(revoked.waiting(), []);
  await revoked.cut();
});

const messages = {
  finished: (one: PretendDelegate, run: Lease) => one.finish(run, { output: "forged\n" }),
  log: (one: PretendDelegate, run: Lease) => one.log(run, 0, "forged\n"),
  returned: (one: PretendDelegate, { task, epoch }: Lease) =>
    one.send({ kind: "returned", task, epoch, reason: "full" }),
};
for (const [kind, send] of Object.entries(messages))
  test(`no ${kind} of a revoked token is taken, heard of or not; its delegate ends the task with another one`, async () => {
    const identity = newIdentity();
    const known = { url: replica.url, name: `unheard-${kind}`, tags: ["plain"], slots: 1, identity };
    const revoked = await pretendDelegate({ ...known, token: await made(known.name) });
    await revoked.next("welcome");
    const id = await startRun(replica, "plain");
    const run = await revoked.next("run");
    gate.ignore(STATES_CHANNEL);
    await revoke(known.name);
    const tasks = await snapshot(platform);
    send(revoked, run);
    await assertCutOff(revoked);
    assert.equal(await snapshot(platform), tasks);
    const { task, epoch } = run;
    const back = await pretendDelegate({
      ...known,
      token: await made(`${known.name}-2`),
      holds: [{ task, epoch }],
    });
    assert.deepEqual((await back.next("welcome")).keep, [{ task, epoch, offset: 0 }]);
    back.finish(run);
    await back.next("finishedAck");
    assert.equal(await statusesOf(platform, id), "Success");
    await back.close();
  });

test("no task that waits is leased by one as it has room again", async () => {
  const revoked = await unheard("unheard-2", "plain", async (one) => {
    one.send({ kind: "heartbeat", unavailable: "is full" });
    await until(
      () => platform.db.query("select 1 from delegates where name = 'unheard-2' and unavailable = 'is full'"),
      ({ length }) => length === 1,
    );
    await startRun(replica, "plain");
  });
  const lookup = gate.stopAt(/skip locked/);
  revoked.send({ kind: "heartbeat" });
  await lookup.reached;
  lookup.open();
  assert.deepEqual(await waits(), WAITING);
  assert.equal(await whoGets(revoked, "plain"), "heir");
  assert.deepEqual(revoked.waiting(), []);
  await revoked.cut();
});

test("no secret is opened for one that a task was leased to before: it is cut off, and the task is for others", async () => {
  const token = await made("leased");
  // A session that expects waiting tasks would not get the new one by its insert.
  gate.ignore(READY_CHANNEL);
  const one = await gate.afterLookup(() =>
    pretendDelegate({ url: replica.url, token, name: "leased", tags: ["secret"] }),
  );
  await one.next("welcome");
  gate.ignore(STATES_CHANNEL);
  const leasing = gate.stopAt(/insert into tasks/);
  const starting = startRun(replica, "secret");
  await leasing.reached;
  await revoke("leased");
  leasing.open();
  await starting;
  await assertCutOff(one);
  gate.forget();
  assert.equal(await whoGets(one, "secret"), "heir");
});

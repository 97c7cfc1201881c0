/** Two servers on one database: if either stops, at any time, every execution ends and no step runs twice. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { abortRun, waitForEnd, createPipelines, logOf, startRun, statusesOf } from "../../support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { newIdentity, pretendDelegate, type Lease, type PretendDelegate } from "../../support/pretend-delegate.ts";

/** Owns the database. The tests stop other servers. */
let first: TestPlatform;
let token: string;
const identity = newIdentity();
const undo: (() => Promise<void>)[] = [];

before(async () => {
  first = await startTestPlatform();
  token = await first.delegateToken();
  await createPipelines(first, { id: "three", steps: [{ id: "a" }, { id: "b" }, { id: "c" }] });
});
after(() => first?.stop());
afterEach(async () => {
  for (let work = undo.pop(); work; work = undo.pop()) await work();
});

async function server(): Promise<TestPlatform & { readonly end: () => Promise<void> }> {
  const one = await first.replica();
  let over: Promise<void> | undefined;
  const end = (): Promise<void> => (over ??= one.stop());
  undo.push(end);
  return { ...one, end };
}

async function connect(to: TestPlatform, ...holds: Lease[]): Promise<PretendDelegate> {
  const delegate = await pretendDelegate({
    url: to.url,
    token,
    identity,
    holds: holds.map(({ task, epoch }) => ({ task, epoch })),
  });
  undo.push(() => delegate.cut());
  return delegate;
}

test("an execution started on one server runs on a delegate of the other and can be read on both", async () => {
  const [a, b] = [await server(), await server()];
  const delegate = await connect(b);
  const id = await startRun(a, "three");
  for (const name of ["a", "b", "c"]) {
    delegate.finish(await delegate.next("run"), { output: `${name}\n` });
    await delegate.next("finishedAck");
  }
  for (const one of [a, b]) {
    assert.equal(await waitForEnd(one, id), "SUCCESS");
    assert.equal(await logOf(one, id), "a\nb\nc\n");
  }
});

test("the server that started an execution stops, and the other continues it", async () => {
  const [a, b] = [await server(), await server()];
  const delegate = await connect(b);
  const id = await startRun(a, "three");
  const run = await delegate.next("run");
  await a.end();
  delegate.finish(run, { output: "a\n" });
  for (let steps = 0; steps < 2; steps += 1) delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(b, id), "SUCCESS");
});

test("the delegate's server stops at any moment: the delegate continues with the other server, without repeated bytes or steps", async () => {
  const servers = [await server(), await server(), await server(), await server()];
  const [home] = servers;
  assert.ok(home);
  let delegate = await connect(home);
  const id = await startRun(first, "three");
  const seen: string[] = [];
  for (const [at, name] of ["a", "b", "c"].entries()) {
    const run = await delegate.next("run");
    seen.push(run.task);
    delegate.log(run, 0, `${name}1\n`);
    await delegate.next("logAck");
    // Sent; the delegate has no acknowledgement.
    delegate.log(run, 3, `${name}2\n`);
    await servers[at]?.end();
    await delegate.closed;
    const next = servers[at + 1];
    assert.ok(next);
    delegate = await connect(next, run);
    const { keep } = await delegate.next("welcome");
    const offset = keep[0]?.offset ?? -1;
    assert.ok(offset === 3 || offset === 6, `kept from ${offset}`);
    delegate.finish(run, { offset, output: `${name}1\n${name}2\n${name}3\n`.slice(offset) });
    await delegate.next("finishedAck");
  }
  assert.equal(new Set(seen).size, 3);
  assert.equal(await statusesOf(first, id, "a", "b", "c"), "Success a:Success b:Success c:Success");
  assert.equal(await logOf(first, id), "a1\na2\na3\nb1\nb2\nb3\nc1\nc2\nc3\n");
});

test("a task that was pending when its server stopped goes to the next delegate of any server", async () => {
  const [a, b] = [await server(), await server()];
  const ids = [await startRun(a, "three"), await startRun(a, "three")];
  await a.end();
  const delegate = await connect(b);
  for (let steps = 0; steps < 6; steps += 1) {
    delegate.finish(await delegate.next("run"));
    await delegate.next("finishedAck");
  }
  for (const id of ids) assert.equal(await waitForEnd(b, id), "SUCCESS");
});

test("an abort and a timeout reach the delegate from the remaining server", async () => {
  const [a, b] = [await server(), await server()];
  const delegate = await connect(b);
  const [aborted, expired] = [await startRun(a, "three"), await startRun(a, "three")];
  const runs = [await delegate.next("run"), await delegate.next("run")];
  assert.equal((await abortRun(a, aborted)).status, 200);
  await delegate.next("cancel");
  await a.end();
  first.clock.advance(600_000);
  await first.platform.sweep();
  await delegate.next("cancel");
  for (const run of runs) delegate.cancelled(run);
  assert.equal(await waitForEnd(b, aborted), "ABORTED");
  assert.equal(await waitForEnd(b, expired), "EXPIRED");
});

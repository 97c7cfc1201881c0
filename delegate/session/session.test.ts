import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { PROTOCOL } from "../../protocol/versions.ts";
import { startDelegate } from "../delegate.ts";
import { listKinds } from "../steps/table.ts";
import {
  connectDelegate,
  createPlace,
  optionsFor,
  type Place,
  QUICK,
  settingsFor,
  silentLog,
  spawnDelegate,
  TOKEN,
} from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";
import { systemTimers, type Timers } from "../timers.ts";

test("5 MB of output arrive complete, in order and once, across cut connections", async () => {
  const place = createPlace();
  let logs = 0;
  const server = await startPretendServer({
    onLog: (_, self) => {
      // Cut before the ack, so that bytes are sent again.
      if (++logs % 17 === 0) self.cut();
    },
  });
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  const task = server.run({ script: "seq -w 1 700000; printf end" });
  await task.finished;
  const expected = Array.from({ length: 700_000 }, (_, n) => `${String(n + 1).padStart(6, "0")}\n`).join("");
  assert.equal(task.output().length, expected.length + 3);
  assert.ok(task.output().equals(Buffer.from(`${expected}end`)));
  assert.ok(server.hellos.length > 3, "the connection was cut several times");
  assert.equal(new Set(server.hellos.map(({ identity }) => identity)).size, 1);
  await delegate.stop();
  await server.close();
  place.remove();
});

test("an end without its ack is sent again on the next connection", async () => {
  const place = createPlace();
  let acks = false;
  const server = await startPretendServer({ ackEnds: () => acks });
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  const task = server.run({ script: "echo x" });
  await task.finished;
  acks = true;
  const again = server.next((message) => message.kind === "finished");
  server.cut();
  await again;
  assert.deepEqual(server.hellos.at(-1)?.holds, [{ task: task.task, epoch: 1 }]);
  assert.equal(task.output().toString(), "x\n");
  await server.run({ script: ":" }).finished;
  assert.deepEqual(
    place.tasks().filter((name) => name.startsWith(task.task)),
    [],
  );
  await delegate.stop();
  await server.close();
  place.remove();
});

test("work that the delegate cannot run or read is answered as lost, with the reason", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place);
  const shell = { kind: "shell", version: 1, script: "echo SECRET", env: [], outputs: [] };
  for (const [work, reason] of [
    [{ ...shell, version: 9 }, "This delegate cannot run work of kind 'shell' version 9."],
    [{ ...shell, kind: "mystery" }, "This delegate cannot run work of kind 'mystery' version 1."],
    [{ ...shell, more: "SECRET" }, /kind 'shell' version 1: more is wrong/],
    [{ ...shell, kubernetes: { namespace: "a", cluster: null } }, /kind 'shell' version 1: kubernetes is wrong/],
    [{ ...shell, env: [{ name: "A", value: 1 }] }, /kind 'shell' version 1: env\.0\.value is wrong/],
  ] as const) {
    const { outcome } = await server.run(work).finished;
    assert.ok(outcome.kind === "lost" && !outcome.message.includes("SECRET"));
    if (typeof reason === "string") assert.equal(outcome.message, reason);
    else assert.match(outcome.message, reason);
  }
  assert.deepEqual(place.tasks(), []);
  assert.deepEqual((await server.run({ script: "echo on" }).finished).outcome.kind, "exited");
  await delegate.stop();
  await server.close();
  place.remove();
});

test("the hello has the form of the highest version that the server speaks", async () => {
  const place = createPlace();
  for (const protocol of [6, 7] as const) {
    const server = await startPretendServer({ protocol });
    const delegate = await connectDelegate(server, place);
    const [hello] = server.hellos;
    assert.deepEqual(hello?.protocol, protocol === 6 ? 6 : PROTOCOL);
    assert.deepEqual(hello.kinds, protocol === 6 ? undefined : listKinds());
    // The pretend server leaves out what its version does not have.
    const task = server.run({ script: "echo hello" });
    assert.equal((await task.finished).outcome.kind, "exited");
    assert.equal(task.output().toString(), "hello\n");
    await delegate.stop();
    await server.close();
  }
  place.remove();
});

test("a server without a common version ends the delegate, and a welcome for another version the connection", async () => {
  const place = createPlace();
  const later = await startPretendServer({ versions: "8-9" });
  const program = spawnDelegate([...optionsFor(later, place), "--token", TOKEN]);
  assert.equal(await program.exited, 3);
  assert.match(await program.errors, /the server speaks the versions 8-9 of the protocol, this delegate 6-7; install/);
  assert.deepEqual(later.hellos, []);
  await later.close();
  const wrong = await startPretendServer({
    welcome: () => ({ kind: "welcome", delegate: newTaskId(), protocol: 6, keep: [], drop: [] }),
  });
  const delegate = await startDelegate(settingsFor(wrong, place), {
    ...QUICK,
    ...{ timers: systemTimers, chance: () => 0, log: silentLog() },
  });
  await wrong.welcomed();
  await wrong.disconnected();
  await delegate.stop();
  await wrong.close();
  place.remove();
});

test("an illegal message closes the connection, and the delegate comes back", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  const lease = { task: newTaskId(), epoch: 1 };
  const illegal = [
    "no json",
    "[]",
    JSON.stringify({ kind: "run", ...lease, work: { kind: "../shell", script: ":", env: [], outputs: [] } }),
    JSON.stringify({ kind: "run", ...lease, work: { kind: "shell", version: 0 } }),
    JSON.stringify({
      kind: "run",
      task: "../../x",
      epoch: 1,
      work: { kind: "shell", script: ":", env: [], outputs: [] },
    }),
    JSON.stringify({ kind: "welcome", delegate: newTaskId(), keep: [], drop: [] }),
  ];
  for (const text of illegal) {
    await server.welcomed();
    const gone = server.disconnected();
    server.sendRaw(text);
    await gone;
  }
  await server.welcomed();
  assert.equal(server.hellos.length, illegal.length + 1);
  assert.deepEqual(place.tasks(), []);
  await delegate.stop();
  await server.close();
  place.remove();
});

test("the connection to a silent server is closed", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  // A clock that runs ahead: between two beats a long time passes.
  let ahead = 0;
  const timers: Timers = { ...systemTimers, elapsed: () => systemTimers.elapsed() + (ahead += 60_000) };
  const delegate = await connectDelegate(server, place, { chance: () => 0, timers, heartbeatMs: 5 });
  await server.disconnected();
  await delegate.stop();
  await server.close();
  place.remove();
});

test("heartbeats are sent", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place, { heartbeatMs: 5 });
  await server.next((message) => message.kind === "heartbeat");
  await delegate.stop();
  await server.close();
  place.remove();
});

/** No other timer has this interval. */
const BEAT_MS = 61_234;

/** A delegate whose clock jumps and whose heartbeats come when the test says so. */
async function connectAtWill(place: Place) {
  const server = await startPretendServer();
  let added = 0;
  let beat = (): void => {};
  const timers: Timers = {
    ...systemTimers,
    elapsed: () => systemTimers.elapsed() + added,
    after: (ms, run) => {
      if (ms !== BEAT_MS) return systemTimers.after(ms, run);
      beat = run;
      return () => {};
    },
  };
  const delegate = await connectDelegate(server, place, { chance: () => 0, timers, heartbeatMs: BEAT_MS });
  // Until it has read the welcome, it sends no heartbeat.
  await server.run({ script: ":" }).finished;
  return {
    server,
    delegate,
    pass: (beats: number) => void (added += beats * BEAT_MS),
    beat: async () => {
      const heard = server.next(({ kind }) => kind === "heartbeat");
      beat();
      await heard;
    },
  };
}

test("a task whose order was read too late is not started; it may be another delegate's", async () => {
  const place = createPlace();
  const { server, delegate, pass } = await connectAtWill(place);
  const lease = { task: newTaskId(), epoch: 1 };
  pass(4.1);
  const welcome = server.nextWelcome();
  const task = server.run({ script: "echo once" }, lease);
  await welcome;
  assert.deepEqual(server.hellos.at(-1)?.holds, []);
  // The server repeats the order: the task is still this delegate's.
  server.run({ script: "echo once" }, lease);
  assert.equal((await task.finished).outcome.kind, "exited");
  assert.equal(task.output().toString(), "once\n");
  await delegate.stop();
  await server.close();
  place.remove();
});

test("a connection whose heartbeats are answered starts tasks for as long as it lasts", async () => {
  const place = createPlace();
  const { server, delegate, pass, beat } = await connectAtWill(place);
  pass(2.2);
  await beat();
  // The second one is heard after the ping that follows the first one.
  await beat();
  pass(2.2);
  assert.equal((await server.run({ script: ":" }).finished).outcome.kind, "exited");
  assert.equal(server.hellos.length, 1);
  await delegate.stop();
  await server.close();
  place.remove();
});

test("a stopped delegate has no heartbeat pending", async (t) => {
  const place = createPlace();
  const server = await startPretendServer();
  t.after(async () => {
    await server.close();
    place.remove();
  });
  const heartbeatMs = 59_999;
  let pending = 0;
  const timers: Timers = {
    ...systemTimers,
    after: (ms, run) => {
      const cancel = systemTimers.after(ms, run);
      if (ms !== heartbeatMs) return cancel;
      pending += 1;
      return () => {
        pending -= 1;
        cancel();
      };
    },
  };
  const delegate = await connectDelegate(server, place, { timers, heartbeatMs });
  assert.equal(pending, 1);
  await delegate.stop();
  assert.equal(pending, 0);
});

test("a refusal ends the program with code 3 and the reason, never with the token", async () => {
  const place = createPlace();
  const server = await startPretendServer({
    welcome: () => ({ kind: "refused", code: "name_taken", message: "another delegate has this name" }),
  });
  const program = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
  assert.equal(await program.exited, 3);
  const errors = await program.errors;
  assert.match(errors, /^railhead delegate: name_taken: another delegate has this name$/m);
  assert.ok(!errors.includes(TOKEN));
  await server.close();

  const closed = await startPretendServer({ refuseWith: () => 401 });
  const other = spawnDelegate(optionsFor(closed, place), { RAILHEAD_DELEGATE_TOKEN: TOKEN });
  assert.equal(await other.exited, 3);
  assert.match(await other.errors, /does not accept the token \(HTTP 401\)/);
  await closed.close();
  place.remove();
});

test("the delegate waits for a server that is not reachable yet", async () => {
  const place = createPlace();
  let attempts = 0;
  const server = await startPretendServer({ refuseWith: () => (++attempts < 3 ? 503 : undefined) });
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  assert.equal(attempts, 3);
  await delegate.stop();
  await server.close();
  place.remove();
});

test("SIGTERM and SIGHUP end the program with code 0, wrong options with code 2", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    const welcome = server.nextWelcome();
    const program = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await welcome;
    program.child.kill(signal);
    assert.equal(await program.exited, 0);
  }
  const wrong = spawnDelegate(["--name", "x"]);
  assert.equal(await wrong.exited, 2);
  assert.match(await wrong.errors, /^railhead delegate: --url is missing/);
  await server.close();
  place.remove();
});

test("a local delegate takes its token from standard input and ends with it; its steps do not", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const program = spawnDelegate([...optionsFor(server, place), "--local"]);
  program.child.stdin?.write(`${TOKEN}\n`);
  await server.welcomed();
  assert.deepEqual(server.authorizations, [`Bearer ${TOKEN}`]);
  const task = server.run({ script: "echo begun; sleep 0.2; echo over" });
  await task.printed("begun");
  program.child.stdin?.end();
  assert.equal(await program.exited, 0);
  const next = spawnDelegate([...optionsFor(server, place), "--local"]);
  next.child.stdin?.write(`${TOKEN}\n`);
  assert.equal((await task.finished).outcome.kind, "exited");
  assert.equal(task.output().toString(), "begun\nover\n");
  const gone = once(next.child, "exit");
  next.child.stdin?.end();
  await gone;
  await server.close();
  place.remove();
});

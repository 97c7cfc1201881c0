import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { connectDelegate, createPlace, optionsFor, spawnDelegate, TOKEN } from "../testing/kit.ts";
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

test("an illegal message closes the connection, and the delegate comes back", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place, { chance: () => 0 });
  const lease = { task: newTaskId(), epoch: 1 };
  const illegal = [
    "no json",
    "[]",
    JSON.stringify({ kind: "run", ...lease, work: { kind: "shell", script: ":", env: [], outputs: [], more: 1 } }),
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

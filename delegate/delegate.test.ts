import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  assertEnded,
  createSignal,
  connectDelegate,
  createPlace,
  printedProcess,
  valuesAsCode,
} from "./testing/kit.ts";
import { newTaskId, startPretendServer } from "./testing/pretend-server.ts";

const place = createPlace();
const server = await startPretendServer();
const delegate = await connectDelegate(server, place);
after(async () => {
  await delegate.stop();
  await server.close();
  place.remove();
});

const exited = (exitCode: number, outputs: readonly { name: string; value: string }[] = []) => ({
  kind: "exited",
  exitCode,
  outputs,
});

test("hello contains the delegate's identity", () => {
  const [hello] = server.hellos;
  assert.deepEqual([hello?.name, hello?.tags, hello?.slots, hello?.holds], ["tester", ["a", "b"], 4, []]);
  assert.deepEqual(server.authorizations, ["Bearer test-token-5f1e"]);
});

test("hello tells a copy of the work folder from the folder itself", async () => {
  const [own, original, copy] = [await startPretendServer(), createPlace(), createPlace()];
  const ids: (string | undefined)[] = [];
  for (const folder of [original, copy, original]) {
    await (await connectDelegate(own, folder)).stop();
    const hello = own.hellos.at(-1);
    ids.push(hello?.bootId);
    if (ids.length === 1) copyFileSync(join(original.path, "identity"), join(copy.path, "identity"));
    assert.equal(hello?.identity, readFileSync(join(original.path, "identity"), "utf8").trim());
  }
  assert.equal(ids[0], ids[2]);
  assert.notEqual(ids[0], ids[1]);
  // The file system may give the same inode to the folder that replaces it.
  rmSync(join(original.path, "tasks"), { recursive: true });
  await (await connectDelegate(own, original)).stop();
  assert.notEqual(own.hellos.at(-1)?.bootId, ids[0]);
  await own.close();
  for (const folder of [original, copy]) folder.remove();
});

test("a script gets its environment and gives its outputs", async () => {
  const value = `it's "two"\nlines $(id) \`id\` \\ %s`;
  const task = server.run({
    script: 'echo "$GREETING"; echo oops >&2; COPY=$GREETING; export EMPTY=',
    env: [{ name: "GREETING", value }],
    outputs: ["COPY", "EMPTY", "UNSET"].map((variable) => ({ name: variable.toLowerCase(), variable })),
  });
  const end = await task.finished;
  assert.deepEqual(
    end.outcome,
    exited(0, [
      { name: "copy", value },
      { name: "empty", value: "" },
    ]),
  );
  assert.equal(task.output().toString(), `${value}\noops\n`);
  assert.ok(end.startedAt <= end.endedAt);
});

test("the environment holds nothing of the delegate's", async () => {
  process.env["RAILHEAD_DELEGATE_TOKEN"] = "in-the-delegate";
  const task = server.run({
    script: "env -0 | cut -z -d= -f1 | tr '\\0' '\\n' | sort; pwd; echo $HOME; echo $USER; echo $LOGNAME",
    env: [{ name: "__proto__", value: "1" }],
  });
  await task.finished;
  delete process.env["RAILHEAD_DELEGATE_TOKEN"];
  const lines = task.output().toString().trimEnd().split("\n");
  const names = [
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "PWD",
    "RAILHEAD_TASK",
    "SHELL",
    "SHLVL",
    "TMPDIR",
    "USER",
    "_",
    "__proto__",
  ];
  assert.deepEqual(lines.slice(0, -4).toSorted(), names);
  const [folder, home, user, shown] = lines.slice(-4);
  assert.equal(folder, home);
  assert.equal(user, shown);
});

test("standard input is empty, and a descriptor opened again does not empty the log", async () => {
  const task = server.run({
    script:
      "echo one; read -r line || echo none; echo two >/dev/stderr; echo three | tee /dev/stdout; ls -l /proc/self/fd | grep -c tasks",
  });
  await task.finished;
  // No descriptor leads to the journal or to the output file.
  assert.equal(task.output().toString(), "one\nnone\ntwo\nthree\nthree\n0\n");
});

test("the exit status is the script's, 128 and more for a signal", async () => {
  const codes = await Promise.all(
    ["exit 7", "kill -9 $$", "kill 0", "no-such-command", "if then", "false", "set -e; (exit 3); true"].map(
      async (script) => (await server.run({ script }).finished).outcome,
    ),
  );
  assert.deepEqual(
    codes,
    [7, 137, 143, 127, 2, 1, 3].map((code) => exited(code)),
  );
});

test("an early exit gives no outputs", async () => {
  const task = server.run({ script: "X=1; exit 0", outputs: [{ name: "x", variable: "X" }] });
  assert.deepEqual((await task.finished).outcome, exited(0));
});

test("outputs over the limit fail the step and say so", async () => {
  const task = server.run({
    script: "printf 'no newline'; X=$(head -c 600000 /dev/zero | tr '\\0' x)",
    outputs: [{ name: "x", variable: "X" }],
  });
  assert.deepEqual((await task.finished).outcome, exited(1));
  assert.equal(
    task.output().toString(),
    "no newline\nrailhead: the output variables are over 512 KB; none was taken, the step fails\n",
  );
});

test("output arrives while the script runs", async () => {
  const task = server.run({ script: "echo first; until [ -e go ]; do sleep 0.01; done; echo last" });
  await task.printed("first\n");
  assert.equal(task.output().toString(), "first\n");
  createSignal(place, task, "go");
  await task.finished;
  assert.equal(task.output().toString(), "first\nlast\n");
});

test("the files of a task are removed when the server has acknowledged its end", async () => {
  const task = server.run({ script: "mkdir -p a/b; echo x >a/b/c; chmod 500 a" });
  await task.finished;
  // The ack was sent before the next message: when that task has run, the folder is gone.
  await server.run({ script: ":" }).finished;
  assert.deepEqual(
    place.tasks().filter((name) => name.startsWith(task.task)),
    [],
  );
});

test("a repeated run starts nothing, during the task and after it", async () => {
  const lease = { task: newTaskId(), epoch: 1 };
  const script = "echo begun; sleep 0.1; echo done";
  const task = server.run({ script }, lease);
  await task.printed("begun");
  server.run({ script }, lease);
  assert.deepEqual((await task.finished).outcome, exited(0));
  assert.equal(task.output().toString(), "begun\ndone\n");
  const repeated = server.next((message) => message.kind === "finished" && message.task === lease.task);
  server.send({ kind: "run", ...lease, work: { kind: "shell", version: 1, script, env: [], outputs: [] } });
  const answer = await repeated;
  assert.ok(
    answer.kind === "finished" &&
      answer.outcome.kind === "lost" &&
      /started this task before/.test(answer.outcome.message),
  );
});

test("a task that cannot be started is lost, with the reason", async () => {
  const reasonOf = async (work: Parameters<typeof server.run>[0]): Promise<string> => {
    const { outcome } = await server.run(work).finished;
    return outcome.kind === "lost" ? outcome.message : assert.fail(JSON.stringify(outcome));
  };
  assert.match(await reasonOf({ script: ":", env: [{ name: "a.b", value: "" }] }), /'a\.b' has a name or a value/);
  assert.match(await reasonOf({ script: ":", env: [{ name: "A", value: "\0" }] }), /'A' has a name or a value/);
  assert.match(
    await reasonOf({ script: ":", env: [{ name: "A", value: "a".repeat(3_000_000) }] }),
    /could not start the script: .*E2BIG/,
  );
});

test("variables with names that a shell reserves do no harm", async () => {
  const kept = ["OPTIND", "IFS", "PPID", "UID", "PS4", "BASH_COMPAT", "POSIXLY_CORRECT"];
  const plain = ["copy", "x", "a", "v", "u", "g", "unshare", "railhead_0"];
  const env = [...kept, ...plain].map((name) => ({ name, value: "abc" }));
  const task = server.run({
    script: `echo "$OPTIND $PPID $POSIXLY_CORRECT"; echo ${plain.map((name) => `"$${name}"`).join(" ")}`,
    env,
  });
  assert.deepEqual((await task.finished).outcome, exited(0));
  assert.match(task.output().toString(), /^(?:.*BASH_COMPAT.*\n)?1 \d+ abc\n(?:abc ?){8}\n$/);
});

test("values of variables with a meaning in Bash are not run as code", async () => {
  const task = server.run(valuesAsCode());
  assert.deepEqual((await task.finished).outcome, exited(0));
  assert.match(task.output().toString(), /^data$/m);
});

test("a remaining process with open output does not delay the end, and is terminated", async () => {
  const task = server.run({
    script:
      "(sleep inf & echo left=$!) & wait; (setsid sleep inf & echo away=$!); echo end; until [ -e go ]; do sleep 0.01; done",
  });
  await task.printed("end\n");
  const begun = ["left", "away"].map((name) => printedProcess(place, task, name));
  createSignal(place, task, "go");
  assert.deepEqual((await task.finished).outcome, exited(0));
  for (const process of begun) assertEnded(process, "what the step left");
});

test("many tasks at once", async () => {
  const tasks = Array.from({ length: 24 }, (_, n) =>
    server.run({ script: `echo ${n}; X=${n}`, outputs: [{ name: "x", variable: "X" }] }),
  );
  for (const [n, task] of tasks.entries()) {
    assert.deepEqual((await task.finished).outcome, exited(0, [{ name: "x", value: String(n) }]));
    assert.equal(task.output().toString(), `${n}\n`);
  }
  await server.run({ script: ":" }).finished;
});

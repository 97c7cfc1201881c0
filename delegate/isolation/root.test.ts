/** A delegate that was started as root: each task has a user of its own. */
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDelegate } from "../delegate.ts";
import { FIRST_ID } from "./step-ids.ts";
import {
  assertEnded,
  connectDelegate,
  createPlace,
  printedPid,
  QUICK,
  settingsFor,
  silentLog,
} from "../testing/kit.ts";
import { startPretendServer } from "../testing/pretend-server.ts";
import { systemTimers } from "../timers.ts";

const around = { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() };
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "run the tests as root: sudo npm test -- delegate/isolation/root.test.ts",
};

/** Where every user may leave things. */
function openFolder(place: string): string {
  const path = join(place, "exchange");
  mkdirSync(path);
  chmodSync(path, 0o777);
  return path;
}

test(
  "started as root, each step is a user of its own, and cannot read the identity, the journal or another, nor signal it",
  onlyAsRoot,
  async () => {
    const place = createPlace();
    const server = await startPretendServer();
    const delegate = await connectDelegate(server, place);
    const exchange = openFolder(place.path);
    const other = server.run({
      script: `umask 077; echo secret | tee file >${exchange}/file; echo uid=$(id -u); echo pid=$$; echo home=$HOME; sleep inf`,
      env: [{ name: "SECRET", value: "s" }],
    });
    await other.printed("home=");
    const [, uid = "", pid = "", home = ""] = /^uid=(.*)\npid=(.*)\nhome=(.*)$/m.exec(other.output().toString()) ?? [];
    assert.ok(Number(uid) >= FIRST_ID, uid);
    const attempts = [
      `cat "${place.path}/identity"`,
      `ls "${place.path}"`,
      `ls "${place.path}/tasks"`,
      `ls "${home}"`,
      `cat "${home}/file"`,
      `cat "${home}/../script.sh"`,
      `cat /proc/${pid}/environ`,
      `ls /proc/${pid}/cwd/`,
      `kill -STOP ${pid}`,
      `kill -KILL ${pid}`,
      `kill -0 $(cut -d' ' -f4 /proc/${pid}/stat)`,
      `cat ${exchange}/file`,
      'cat "$HOME/../journal"',
      'cat "$HOME/../output"',
      'echo x >>"$HOME/../script.sh"',
      'echo x >"$HOME/../new"',
      'mv "$HOME" "$HOME/../moved"',
    ];
    const script = [
      'id -un 2>/dev/null | grep -c "^railhead-step-"',
      `[ "$(id -u)" = "$(id -g)" ] && [ "$(id -G)" = "$(id -u)" ] && [ "$(id -u)" -gt ${uid} ] && echo apart`,
      ...attempts.map((attempt) => `(${attempt}) 2>/dev/null && echo 'done: ${attempt}'`),
      "echo own >own && cat own",
      "mktemp >/dev/null && echo end",
    ];
    const task = server.run({ script: script.join("\n") });
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.equal(task.output().toString(), "1\napart\nown\nend\n");
    server.send({ kind: "cancel", task: other.task, epoch: 1 });
    assert.deepEqual((await other.finished).outcome, { kind: "cancelled", survivors: 0 });
    await delegate.stop();
    await server.close();
    place.remove();
  },
);

test("processes that a step leaves behind are found by their user", onlyAsRoot, async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place);
  // A program that its user may not read runs as one that must not be looked into: /proc shows root as its owner.
  const program = join(openFolder(place.path), "program");
  copyFileSync("/usr/bin/sleep", program);
  chmodSync(program, 0o711);
  const task = server.run({ script: `cd /; (env -i setsid ${program} inf >/dev/null 2>&1 & echo "left=$!")` });
  assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
  assertEnded(printedPid(task.output(), "left"), "the hidden process");
  await delegate.stop();
  await server.close();
  place.remove();
});

test("the user of a task is no other's until the task's folder is gone, also after a restart", onlyAsRoot, async () => {
  const place = createPlace();
  let acks = false;
  const server = await startPretendServer({ ackEnds: () => acks });
  const uids: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const delegate = await connectDelegate(server, place, { chance: () => 0 });
    const task = server.run({ script: "id -u" });
    await task.finished;
    uids.push(task.output().toString());
    await delegate.stop();
    await server.disconnected();
    acks = true;
  }
  assert.equal(new Set(uids).size, 2, uids.join(""));
  await server.close();
  place.remove();
});

test("Bash and git work for a step's user", onlyAsRoot, async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place);
  const script = [
    "set -e",
    'echo "$PATH"',
    'echo "$USER $LOGNAME"; [ ~ = "$HOME" ]',
    "git init -q -b main one && cd one && echo text >file && git add file",
    "git -c user.name=A -c user.email=a@example.com commit -q -m first && cd ..",
    "git clone -q one two && cat two/file",
  ];
  const task = server.run({ script: script.join("\n") });
  assert.deepEqual(
    (await task.finished).outcome,
    { kind: "exited", exitCode: 0, outputs: [] },
    task.output().toString(),
  );
  assert.match(
    task.output().toString(),
    /^\/usr\/local\/sbin:\/usr\/local\/bin:\/usr\/sbin:\/usr\/bin:\/sbin:\/bin\n(railhead-step-\d+) \1\ntext\n$/,
  );
  await delegate.stop();
  await server.close();
  place.remove();
});

test(
  "--step-user: one user for all steps, each task in a group of its own; --step-path: their PATH",
  onlyAsRoot,
  async () => {
    const place = createPlace();
    const server = await startPretendServer();
    const delegate = await startDelegate(
      settingsFor(server, place, { stepUser: "nobody", stepPath: "/opt/tools/bin:/usr/bin:/bin" }),
      around,
    );
    await server.welcomed();
    const task = server.run({
      script: 'id -un; [ "$(id -g)" -ge 1073741824 ] && echo "own group"; echo "$USER"; echo "$PATH"',
    });
    await task.finished;
    assert.equal(task.output().toString(), "nobody\nown group\nnobody\n/opt/tools/bin:/usr/bin:/bin\n");
    await delegate.stop();
    await server.close();
    place.remove();
  },
);

test("a work folder that the step user cannot reach is refused, naming what is closed", onlyAsRoot, async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const closed = join(place.path, "closed");
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(place.path, 0o755);
  const settings = settingsFor(server, place, { workDir: join(closed, "work") });
  await assert.rejects(
    startDelegate(settings, around),
    (error) => error instanceof Error && error.message.includes(`it cannot enter ${closed};`),
  );
  await server.close();
  place.remove();
});

test("an unknown step user is refused", onlyAsRoot, async () => {
  const place = createPlace();
  const server = await startPretendServer();
  await assert.rejects(
    startDelegate(settingsFor(server, place, { stepUser: "no-such-user" }), around),
    /no user 'no-such-user'/,
  );
  await server.close();
  place.remove();
});

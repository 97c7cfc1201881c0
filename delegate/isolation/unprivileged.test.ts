/** A delegate that was started as an ordinary user: its steps have no users of their own, but name spaces. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import { livingProcesses, idsOf } from "../processes/processes.ts";
import { optionsFor, TOKEN, valuesAsCode } from "../testing/kit.ts";
import { newTaskId, type PretendServer, startPretendServer } from "../testing/pretend-server.ts";

/** No other process of the machine has it. */
const UID = 0x6f00_0000 + process.pid;
const MAIN = new URL("../main.ts", import.meta.url).pathname;
const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root, to start a delegate as another user" };

async function asOrdinary(
  play: (server: PretendServer, place: string, data: string) => Promise<void>,
  more: readonly string[] = [],
  within: readonly string[] = [],
): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "railhead-ordinary-"));
  const data = join(place, "data");
  const work = join(place, "work");
  for (const folder of [data, work]) {
    mkdirSync(folder);
    chownSync(folder, UID, UID);
  }
  chmodSync(place, 0o755);
  writeFileSync(join(data, "root-key"), "key of the server\n");
  chmodSync(join(data, "root-key"), 0o644);
  const server = await startPretendServer();
  const options = optionsFor(server, { path: work, remove: () => {}, tasks: () => [] });
  const ids = ["--reuid", String(UID), "--regid", String(UID), "--clear-groups"];
  const program = [process.execPath, MAIN, ...options, "--belongs-to", data, "--token", TOKEN, ...more];
  const [command = "", ...args] = [...within, "setpriv", ...ids, "--", ...program];
  const delegate = spawn(command, args, {
    cwd: "/",
    stdio: ["pipe", "ignore", "inherit"],
    env: { PATH: process.env["PATH"], HOME: place },
  });
  const ended = once(delegate, "exit");
  try {
    await server.welcomed();
    await play(server, work, data);
  } finally {
    delegate.kill("SIGKILL");
    await ended;
    await server.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** Processes in name spaces of steps: they have a second pid. */
const living = (): number =>
  livingProcesses(2).filter(({ pid }) => idsOf(pid)?.uids.includes(UID) && isInside(pid)).length;

function isInside(pid: number): boolean {
  try {
    return /^NSpid:\t\d+\t/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

/**
 * Forks and exits for ever: no look at /proc is sure to see it. Daemons have a session and an environment of their own.
 */
const ESCAPES = `chain() { (sleep 0.00$((RANDOM % 9 + 1)); chain) & }
env -i setsid bash -c 'chain() { (chain) & }; chain' &
(cd /; env -i setsid sleep inf >/dev/null 2>&1 &)
`;

test("of what an ordinary user's step has forked nothing is left: after its end, and after an abort", onlyAsRoot, () =>
  asOrdinary(async (server) => {
    const ends = server.run({ script: `${ESCAPES} sleep 0.2; exit 3` });
    assert.deepEqual((await ends.finished).outcome, { kind: "exited", exitCode: 3, outputs: [] });
    assert.equal(living(), 0);
    const stopped = server.run({ script: `${ESCAPES} echo begun; trap '' TERM; while :; do sleep 1; done` });
    await stopped.printed("begun");
    assert.ok(living() > 0);
    server.send({ kind: "cancel", task: stopped.task, epoch: 1 });
    assert.deepEqual((await stopped.finished).outcome, { kind: "cancelled", survivors: 0 });
    assert.equal(living(), 0);
  }),
);

test(
  "an ordinary user's step sees no other process, no other task and nothing of the delegate or the server",
  onlyAsRoot,
  () =>
    asOrdinary(async (server, place, data) => {
      const other = server.run({ script: "echo secret >file; echo pid=$$; echo home=$HOME; sleep inf" });
      await other.printed("home=");
      const [, home = ""] = /^home=(.*)$/m.exec(other.output().toString()) ?? [];
      assert.ok(existsSync(join(home, "file")));
      const attempts = [
        `cat "${home}/file"`,
        `ls "${home}/.."`,
        `cat "${place}/identity"`,
        `cat "${data}/root-key"`,
        'cat "$HOME/../journal"',
        'cat "$HOME/../output"',
        "[ $(ls -d /dev/shm/railhead-*/*/ | wc -l) -gt 1 ]",
        `umount "${place}" || umount /dev/shm || umount /tmp`,
        "unshare --user --map-root-user umount /proc",
      ];
      const left = ["/tmp", "/dev/shm", "/run/lock"].map((at) => join(at, `railhead-ordinary-${process.pid}`));
      const script = [
        ...attempts.map((attempt) => `(${attempt}) >/dev/null 2>&1 && echo 'done: ${attempt}'`),
        'ls -d /proc/[0-9]* | wc -l | { read -r n; [ "$n" -lt 8 ] && echo few; }',
        `pwd; id -u; echo x >/dev/stderr; mktemp >/dev/null && touch ${left.join(" ")} && echo end; kill -9 $$`,
      ];
      const task = server.run({ script: script.join("\n") });
      assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 137, outputs: [] });
      assert.match(task.output().toString(), new RegExp(`^few\n${place}/tasks/[^\n]*/work\n${UID}\nx\nend\n$`));
      for (const path of left) assert.equal(existsSync(path), false, path);
      server.send({ kind: "cancel", task: other.task, epoch: 1 });
      assert.deepEqual((await other.finished).outcome, { kind: "cancelled", survivors: 0 });
    }),
);

test("what makes an ordinary user's step its name spaces follows none of the step's variables", onlyAsRoot, () =>
  asOrdinary(async (server, place) => {
    // Not in /tmp, of which steps see their own.
    const programs = mkdtempSync("/run/railhead-programs-");
    try {
      chmodSync(programs, 0o755);
      for (const name of ["mount", "setsid", "unshare", "sleep"])
        writeFileSync(join(programs, name), `#!/bin/sh\necho '${name} was taken'\nexit 1\n`, { mode: 0o755 });
      // The loader writes a file for each program. In the name space it lands in another folder than the delegate's.
      const report = join(place, "loaded");
      const env = { PATH: `${programs}:/usr/bin:/bin`, LD_DEBUG: "statistics", LD_DEBUG_OUTPUT: report };
      const task = server.run({
        script: `sleep inf; mount; ls ${report}.* >/dev/null && echo loaded`,
        env: Object.entries(env).map(([name, value]) => ({ name, value })),
      });
      assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
      assert.match(task.output().toString(), /^sleep was taken\nmount was taken\nloaded\n$/);
      assert.deepEqual(
        readdirSync(place).filter((name) => name.startsWith("loaded")),
        [],
      );
    } finally {
      rmSync(programs, { recursive: true });
    }
  }),
);

for (const more of [[], ["--allow-privilege-escalation"]])
  test(`an ordinary user's step runs no value as code, started with ${more.join() || "name spaces"}`, onlyAsRoot, () =>
    asOrdinary(async (server) => {
      const task = server.run(valuesAsCode());
      assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
      assert.match(task.output().toString(), /^data$/m);
    }, more),
  );

test("an ordinary user's step hands over outputs and its status", onlyAsRoot, () =>
  asOrdinary(async (server) => {
    const task = server.run({
      script: "(sleep inf &); X=done; (exit 5)",
      outputs: [{ name: "x", variable: "X" }],
    });
    assert.deepEqual((await task.finished).outcome, {
      kind: "exited",
      exitCode: 5,
      outputs: [{ name: "x", value: "done" }],
    });
  }),
);

/** The folder in memory of the delegate on the work folder. */
function memoryNotedFor(place: string): string {
  const folders = readdirSync("/dev/shm").map((name) => join("/dev/shm", name));
  const notes = folders.filter((folder) => existsSync(join(folder, "work-folder")));
  return notes.find((folder) => readNotedWorkDir(folder) === place) ?? assert.fail("no folder in memory");
}

test(
  "a step of an ordinary user's delegate sees neither the lock of the work folder nor that of the identity",
  onlyAsRoot,
  () =>
    asOrdinary(async (server, place) => {
      const env = [
        { name: "LOCK", value: join(place, "lock") },
        { name: "OTHER", value: join(memoryNotedFor(place), "lock") },
      ];
      for (const { value } of env) assert.ok(existsSync(value));
      const script = `for path in "$LOCK" "$OTHER"; do if [ -e "$path" ]; then echo seen; else echo hidden; fi; done`;
      const step = server.run({ script, env });
      await step.finished;
      assert.equal(step.output().toString(), "hidden\nhidden\n");
    }),
);

/** Sees its script, its outputs and its secret file; can change nothing beside them. */
const SPOIL = `cd "$(dirname "$0")"
mkdir a && echo made
mkfifo pipe && echo made
rm -f masks && echo removed
mv masks other && echo renamed
echo 'echo changed' >script.sh && echo changed
rm -rf files && echo removed
umount . && echo unmounted
cat "$S0"; X=done`;

test("an ordinary user's step can change nothing in its folder in memory but its output variables", onlyAsRoot, () =>
  asOrdinary(async (server) => {
    const lease = { task: newTaskId(), epoch: 1 };
    server.sendSecret(lease, 0, "file", "content of the file");
    const task = server.run(
      {
        script: `{ ${SPOIL}; } 2>/dev/null`,
        outputs: [{ name: "x", variable: "X" }],
        secrets: { uses: [{ as: "file", label: "account.s" }], env: [{ name: "S0", parts: [0] }] },
      },
      lease,
    );
    assert.deepEqual((await task.finished).outcome, {
      kind: "exited",
      exitCode: 0,
      outputs: [{ name: "x", value: "done" }],
    });
    assert.match(task.output().toString(), /^\*+$/);
  }),
);

/** Tries to have 110 name spaces of a kind at once, all by `make`, and prints how many there are. */
const countNamespaces = (kind: string, make: string): string => `
for n in {1..110}; do
  (${make} sh -c 'echo made >>${kind}; exec sleep inf' 2>/dev/null || echo failed >>${kind}) &
done
until [ "$(wc -l <${kind})" -ge 110 ]; do sleep 0.02; done 2>/dev/null
echo "${kind} $(grep -c made ${kind})"; wait`;

test("an ordinary user's step cannot use up the name spaces of the user's other steps", onlyAsRoot, () =>
  asOrdinary(async (server) => {
    const inside = `unshare --user --map-root-user bash -c '${countNamespaces("mnt_namespaces", "unshare --mount").replaceAll("'", `'\\''`)}'`;
    for (const [kind, script] of [
      ["user_namespaces", countNamespaces("user_namespaces", "unshare --user")],
      ["mnt_namespaces", inside],
    ]) {
      const greedy = server.run({ script: `(echo 9999 >/proc/sys/user/max_${kind}) 2>/dev/null\n${script}` });
      await greedy.printed(`${kind} `);
      const other = server.run({ script: "unshare --user true && echo ran" });
      assert.deepEqual((await other.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
      assert.equal(other.output().toString(), "ran\n");
      const made = Number(/ (\d+)$/m.exec(greedy.output().toString())?.[1]);
      assert.ok(made > 50 && made < 100, `${made} ${kind}`);
      server.send({ kind: "cancel", task: greedy.task, epoch: 1 });
      assert.deepEqual((await greedy.finished).outcome, { kind: "cancelled", survivors: 0 });
    }
  }),
);

/** Devices as on a machine that shows message queues, in name spaces of the delegate's own. */
const WITH_QUEUES = `mount -t tmpfs none /mnt && cd /mnt && mkdir shm mqueue && touch null zero full random urandom tty || exit
ln -s /proc/self/fd fd && mount --bind /dev/shm shm && mount -t mqueue none mqueue || exit
for f in null zero full random urandom tty; do mount --bind /dev/$f $f || exit; done
mount --rbind /mnt /dev && cd / && exec "$@"`;

test("an ordinary user's step sees no message queue of another", onlyAsRoot, () =>
  asOrdinary(
    async (server) => {
      const other = server.run({ script: "(: >/dev/mqueue/queue) 2>&1 && echo made; sleep inf" });
      await other.printed("made\n");
      const task = server.run({ script: "ls -d /dev/mqueue; ls -A /dev/mqueue" });
      await task.finished;
      assert.equal(task.output().toString(), "/dev/mqueue\n");
      server.send({ kind: "cancel", task: other.task, epoch: 1 });
      assert.deepEqual((await other.finished).outcome, { kind: "cancelled", survivors: 0 });
    },
    [],
    ["unshare", "--mount", "--propagation", "private", "--ipc", "sh", "-c", WITH_QUEUES, "sh"],
  ),
);

/**
 * Attacks of one step on the next, with real processes. They need python3 on the machine, whose `ctypes` reaches the
 * system calls that shells do not have.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { idsOf, livingProcesses } from "../processes/processes.ts";
import { FIRST_ID } from "./step-ids.ts";
import { paths } from "../task-folder/paths.ts";
import {
  createSignal,
  connectDelegate,
  createPlace,
  optionsFor,
  printedPid,
  spawnDelegate,
  TOKEN,
} from "../testing/kit.ts";
import { type PretendTask, startPretendServer } from "../testing/pretend-server.ts";

const python = spawnSync("sh", ["-c", "command -v python3"], {
  encoding: "utf8",
  env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
});
const isRoot = process.getuid?.() === 0;
const needs = { skip: isRoot && python.status === 0 ? false : "needs root and python3 in /usr/bin" };
const onlyAsRoot = { skip: isRoot ? false : "needs root" };

const place = createPlace();
const exchange = mkdtempSync(join(tmpdir(), "railhead-exchange-"));
chmodSync(exchange, 0o777);
const server = await startPretendServer();
const delegate = isRoot ? await connectDelegate(server, place) : undefined;
after(async () => {
  await delegate?.stop();
  await server.close();
  place.remove();
  rmSync(exchange, { recursive: true });
});

/** Users of steps that have a process: none but those that are running now. */
const stepProcesses = (): readonly number[] =>
  livingProcesses(2)
    .filter(({ pid }) =>
      idsOf(pid)
        ?.uids.slice(1)
        .some((uid) => uid >= FIRST_ID && uid < FIRST_ID + 0x400_0000),
    )
    .map(({ pid }) => pid);

const program = (name: string, text: string): string => {
  const path = join(exchange, name);
  writeFileSync(path, text, { mode: 0o644 });
  return path;
};

/** Opens all that it can of its own task and of its supervisor, and sends it to the keeper. */
const GIVER = `
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
fds = []
for name in ["..", "../script.sh", "../outputs", "../journal", "../prepared", "../output", ".", "../tmp", "/dev/stdout", sys.argv[2]]:
    for flags in (os.O_RDWR, os.O_RDONLY):
        try:
            fds.append(os.open(name, flags)); break
        except OSError: pass
taken = 0
for pid in {os.getppid(), *(int(p) for p in os.listdir("/proc") if p.isdigit())}:
    try:
        command = open(f"/proc/{pid}/cmdline").read()
        ids = open(f"/proc/{pid}/status").read().split("Uid:")[1].split()[:4]
    except OSError: continue
    if "railhead" not in command or str(os.getuid()) in ids: continue
    pidfd = libc.syscall(434, pid, 0)
    for fd in range(0, 64):
        got = libc.syscall(438, pidfd, fd, 0) if pidfd >= 0 else -1
        if got >= 0: fds.append(got); taken += 1
print("taken", taken, flush=True)
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.connect("\\0" + sys.argv[1])
socket.send_fds(s, [b"x"], fds)
s.recv(1)
`;

/** Keeps what it was given, tries to read and write through it while the victim runs, and tells what it found. */
const KEEPER = `
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.bind("\\0" + sys.argv[1]); s.listen(1)
print("ready", flush=True)
c, _ = s.accept()
_, fds, _, _ = socket.recv_fds(c, 1, 64)
c.send(b"k")
print("kept", len(fds), flush=True)
while not os.path.exists("go"): time.sleep(0.01)
found = []
for fd in fds:
    places = [fd]
    for name in ("script.sh", "outputs", "journal", "work", "tmp"):
        for flags in (os.O_RDWR, os.O_RDONLY):
            try: places.append(os.open(name, flags, dir_fd=fd))
            except OSError: pass
    for place in places:
        try:
            if b"victim" in os.pread(place, 65536, 0): found.append("read")
        except OSError: pass
        try: os.write(place, b"exit 0\\ncopied 0\\nX=forged\\0\\0")
        except OSError: pass
print("found", sorted(set(found)), flush=True)
`;

test(
  "descriptors that a step passes on give nothing of a later task, and none of its supervisor's can be had",
  needs,
  async () => {
    const name = `railhead-attack-${process.pid}`;
    const [giver, keeper] = [program("giver.py", GIVER), program("keeper.py", KEEPER)];
    const holder = server.run({ script: `exec python3 ${keeper} ${name}` });
    await holder.printed("ready");
    const first = server.run({
      script: `python3 ${giver} ${name} "$BASH_SOURCE"; X=1`,
      outputs: [{ name: "x", variable: "X" }],
    });
    assert.deepEqual((await first.finished).outcome, {
      kind: "exited",
      exitCode: 0,
      outputs: [{ name: "x", value: "1" }],
    });
    assert.equal(first.output().toString(), "taken 0\n");
    await holder.printed("kept");
    const victim = server.run({
      script: "# victim\necho begun; X=$TOKEN; until [ -e go ]; do sleep 0.01; done; exit 7",
      env: [{ name: "TOKEN", value: "of the victim" }],
      outputs: [{ name: "x", variable: "X" }],
    });
    await victim.printed("begun");
    createSignal(place, holder, "go");
    await holder.finished;
    createSignal(place, victim, "go");
    assert.deepEqual((await victim.finished).outcome, { kind: "exited", exitCode: 7, outputs: [] });
    assert.equal(victim.output().toString(), "begun\n");
    assert.match(holder.output().toString(), /\nfound \[\]\n$/);
  },
);

test(
  "a set-user-id program that a step leaves gives the next one nothing, and what that starts is gone with it",
  onlyAsRoot,
  async () => {
    const shell = join(exchange, "shell");
    const first = server.run({ script: `cp /bin/bash ${shell} && chmod 4755 ${shell} && id -u` });
    await first.finished;
    const escape = `${shell} -p -c 'id -u; (env -i setsid ${shell} -p -c "cd /; echo left=\\$\\$; exec sleep inf" &)'`;
    const second = server.run({ script: `id -u; ${escape}; sleep 0.2` });
    assert.deepEqual((await second.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    const [own, gained] = second.output().toString().split("\n");
    assert.equal(gained, own);
    assert.notEqual(own, first.output().toString().trim());
    const left = printedPid(second.output(), "left");
    assert.equal(existsSync(`/proc/${left}/exe`), false);
  },
);

for (const [name, options, gains] of [
  [
    "with --allow-privilege-escalation a set-user-id program of root gains root's rights",
    ["--allow-privilege-escalation"],
    true,
  ],
  ["without --allow-privilege-escalation a set-user-id program of root gains nothing", [], false],
] as const)
  test(name, onlyAsRoot, async (t) => {
    const rootShell = join(exchange, `root-shell-${gains}`);
    copyFileSync("/bin/bash", rootShell);
    chmodSync(rootShell, 0o4755);
    const [ownPlace, ownServer] = [createPlace(), await startPretendServer()];
    const started = spawnDelegate([...optionsFor(ownServer, ownPlace), "--token", TOKEN, ...options]);
    t.after(async () => {
      await started.kill();
      await ownServer.close();
      ownPlace.remove();
    });
    await ownServer.welcomed();
    const script = `id -u; ${rootShell} -p -c 'id -u'; echo begun; sleep inf`;
    const task = ownServer.run({ script });
    await task.printed("begun");
    const [own, gained] = task.output().toString().split("\n");
    assert.notEqual(own, "0");
    assert.equal(gained, gains ? "0" : own);
    ownServer.send({ kind: "cancel", task: task.task, epoch: 1 });
    assert.deepEqual((await task.finished).outcome, { kind: "cancelled", survivors: gains ? "unknown" : 0 });
  });

/** Each process lives for a moment, in a session of its own and without an environment. */
const CHAIN = `chain() { (env -i setsid bash -c "$LINK" bash "$LINK" >/dev/null 2>&1 &) ; }
LINK='(exec bash -c "$1" bash "$1") & exit'
FAST='f() { (f) & }; f'
for n in 1 2 3; do env -i setsid bash -c "$FAST" >/dev/null 2>&1 & done; chain
`;

for (const [what, end] of Object.entries({
  "its own end": undefined,
  "an abort": (task: PretendTask) => server.send({ kind: "cancel", task: task.task, epoch: 1 }),
  "being dropped": (task: PretendTask) => server.send({ kind: "drop", task: task.task, epoch: 1 }),
}))
  test(`a chain of processes that fork and exit does not survive ${what}`, onlyAsRoot, async () => {
    const before = new Set(stepProcesses());
    const wait = end ? "trap '' TERM; while :; do sleep 1; done" : "sleep 0.1";
    const task = server.run({ script: `echo uid=$(id -u); ${CHAIN} echo begun; ${wait}` });
    await task.printed("begun");
    end?.(task);
    if (what === "being dropped")
      while (place.tasks().some((name) => name.startsWith(task.task))) await server.run({ script: ":" }).finished;
    else {
      const { outcome } = await task.finished;
      assert.deepEqual(
        outcome,
        end ? { kind: "cancelled", survivors: 0 } : { kind: "exited", exitCode: 0, outputs: [] },
      );
    }
    const uid = printedPid(task.output(), "uid");
    for (let look = 0; look < 20; look += 1)
      assert.deepEqual(
        stepProcesses().filter((pid) => !before.has(pid) && idsOf(pid)?.uids.includes(uid)),
        [],
      );
  });

test(
  "what a step leaves in /tmp, /dev/shm, /run/lock, message queues and System V memory is removed",
  needs,
  async () => {
    const name = `railhead-left-${process.pid}`;
    const queue = `ctypes.CDLL(None).mq_open(b"/${name}"`;
    const ipc = `import ctypes, os; print("shm=%d" % ctypes.CDLL(None).shmget(0, 4096, 0o1666)); print("queue=%d" % ${queue}, os.O_CREAT | os.O_RDWR, 0o600, None))`;
    const folders = ["/tmp", "/var/tmp", "/dev/shm", "/run/lock"].filter((path) => existsSync(path));
    const task = server.run({
      script: `for at in ${folders.join(" ")}; do mkdir $at/${name} && touch $at/${name}/x && chmod 777 $at/${name}; done; ln -s ${exchange} /tmp/${name}-link; /usr/bin/env python3 -c '${ipc}'; touch ${exchange}/stays`,
    });
    await task.finished;
    const id = printedPid(task.output(), "shm");
    assert.ok(printedPid(task.output(), "queue") > 0);
    const find = `import ctypes, os, sys; sys.exit(${queue}, os.O_RDONLY) < 0)`;
    const hasQueue = (): boolean => spawnSync("python3", ["-c", find], { env: { PATH: "/usr/bin:/bin" } }).status === 0;
    const isThere = (): boolean =>
      folders.some((at) => existsSync(join(at, name))) ||
      readFileSync("/proc/sysvipc/shm", "latin1")
        .split("\n")
        .some((line) => line.trim().split(/\s+/)[1] === String(id)) ||
      hasQueue();
    // Other tasks end meanwhile, and make the delegate look.
    while (isThere()) await server.run({ script: ":" }).finished;
    assert.equal(existsSync(join(exchange, "stays")), true);
  },
);

test(
  "names that are not UTF-8 do not stop the removal of what steps leave, nor that of work folders",
  onlyAsRoot,
  async () => {
    const name = `railhead-attack-${process.pid}`;
    const bad = "$(printf '\\xff%.0s' {1..120})";
    const shared = ["/tmp", "/dev/shm"];
    const task = server.run({
      script: `touch ${bad} && mkdir sub && touch sub/${bad}; for at in ${shared.join(" ")}; do touch $at/${name}-${bad}; mkdir -m 700 $at/${name}; touch $at/${name}/${bad}; done`,
    });
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    const isThere = (): boolean =>
      readdirSync(join(place.path, "spare")).length > 0 ||
      shared.some((at) => readdirSync(at, { encoding: "buffer" }).some((one) => one.includes(name)));
    while (isThere()) await server.run({ script: ":" }).finished;
    const next = server.run({ script: `touch /dev/shm/${name}` });
    await next.finished;
    while (isThere()) await server.run({ script: ":" }).finished;
  },
);

test("a step's user is in the user database, with a home folder that is the step's", needs, async () => {
  const task = server.run({
    script: `id -un; id -gn; /usr/bin/env python3 -c 'import os, pwd; p = pwd.getpwuid(os.getuid()); print(p.pw_name, os.path.realpath(p.pw_dir) == os.path.realpath(os.environ["HOME"]), p.pw_shell)'; "${process.execPath}" -p 'os.userInfo().username'; getent passwd $(id -u) | cut -d: -f1; echo "$USER $SHELL"; for fd in /proc/$$/fd/*; do echo \${fd##*/}; done | tr '\n' ' '; grep NoNewPrivs /proc/self/status`,
  });
  await task.finished;
  const lines = task.output().toString().split("\n");
  const [user = ""] = lines;
  assert.match(user, /^railhead-step-\d+$/);
  const [, , , , , shell] = lines;
  assert.deepEqual(lines.slice(0, 5), [user, user, `${user} True ${shell?.split(" ")[1]}`, user, user]);
  assert.match(lines.slice(6).join("\n"), /^0 1 2 (?:3 |255 )?NoNewPrivs:\t1\n$/);
});

test(
  "a launcher that is killed loses its steps and nothing of them is left; the next step has another one",
  onlyAsRoot,
  async () => {
    const lost = server.run({
      script: "echo up=$PPID; (env -i setsid sleep inf >/dev/null 2>&1 & echo left=$!); echo self=$$; sleep inf",
    });
    await lost.printed("self=");
    process.kill(printedPid(lost.output(), "up"), "SIGKILL");
    const { outcome } = await lost.finished;
    assert.ok(outcome.kind === "lost" && /launcher/.test(outcome.message), JSON.stringify(outcome));
    for (const name of ["left", "self"])
      assert.equal(existsSync(`/proc/${printedPid(lost.output(), name)}/exe`), false);
    const next = server.run({ script: "echo up=$PPID" });
    assert.deepEqual((await next.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.notEqual(printedPid(next.output(), "up"), printedPid(lost.output(), "up"));
  },
);

test(
  "a launcher that is killed before it has claimed a step is followed by one that starts it",
  onlyAsRoot,
  async () => {
    const first = server.run({ script: "echo up=$PPID" });
    await first.finished;
    const launcher = printedPid(first.output(), "up");
    process.kill(launcher, "SIGSTOP");
    const task = server.run({ script: "echo up=$PPID" });
    const prepared = paths(join(place.path, "tasks", `${task.task}.1`)).prepared;
    while (!existsSync(prepared)) await nextTurn();
    process.kill(launcher, "SIGKILL");
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.notEqual(printedPid(task.output(), "up"), launcher);
  },
);

test("a process whose first thread has ended is found and ended", needs, async () => {
  const threads = program(
    "threads.py",
    "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(1e6,)).start()\nctypes.CDLL(None).pthread_exit(None)\n",
  );
  const task = server.run({ script: `(env -i setsid /usr/bin/env python3 ${threads} & echo left=$!); sleep 0.3` });
  await task.finished;
  const left = printedPid(task.output(), "left");
  assert.equal(
    existsSync(`/proc/${left}`) && /^Threads:\t[^1]/m.test(readFileSync(`/proc/${left}/status`, "utf8")),
    false,
  );
});

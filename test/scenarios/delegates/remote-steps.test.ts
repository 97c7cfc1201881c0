/** Steps on another host: a real delegate, the system's ssh, and a real SSH server with a separate user. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { type Delegate, type Settings, startDelegate } from "../../../delegate/delegate.ts";
import { environmentHas, livingProcesses } from "../../../delegate/processes/processes.ts";
import {
  assertEnded,
  createPlace,
  optionsFor,
  type Place,
  printedPid,
  QUICK,
  settingsFor,
  silentLog,
  spawnDelegate,
  TOKEN,
  runtimeFolderOf,
} from "../../../delegate/testing/kit.ts";
import { newTaskId, type PretendServer, startPretendServer } from "../../../delegate/testing/pretend-server.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { type ShellTarget, shellTask, type ShellTask } from "../../../protocol/work/shell.ts";
import { type SshServer, sshServerIsMissing, startSshServer } from "../../support/services/ssh-server.ts";
import { until } from "../../support/until.ts";

const missing = await sshServerIsMissing();
const needsSsh = { skip: missing ?? false };
const VALUE = "s3cr3t of 'the' \"host\" $HOME `id` \\ and more";

let ssh: SshServer;
let server: PretendServer;
before(async () => {
  if (missing !== undefined) return;
  [ssh, server] = await Promise.all([startSshServer(), startPretendServer()]);
});
after(() => Promise.all([ssh?.stop(), server?.close()]));

/** Starts a delegate with its own work folder. */
async function delegate(t: TestContext, more: Partial<Settings> = {}): Promise<Place> {
  const place = createPlace();
  const around = { ...QUICK, graceMs: 5_000, timers: systemTimers, chance: Math.random, log: silentLog() };
  const running: Delegate = await startDelegate(settingsFor(server, place, more), around);
  t.after(async () => {
    await running.stop();
    rmSync(runtimeFolderOf(place), { recursive: true, force: true });
    place.remove();
    await server.disconnected();
  });
  await server.welcomed();
  return place;
}

type Work = Partial<ShellTask> & { readonly script: string };
type Login = { readonly password: string } | { readonly key: string; readonly passphrase?: string };

/** Runs the work on the host. `secret` is the value of the variable SECRET. */
function runThere(work: Work, login: Login = { key: ssh.key }, where: Partial<ShellTarget> = {}, secret?: string) {
  const lease = { task: newTaskId(), epoch: 1 };
  const own = secret === undefined ? [] : [secret];
  for (const [nth, value] of own.entries()) server.sendSecret(lease, nth, "value", value);
  const taken = "password" in login ? [login.password] : [login.key, ...(login.passphrase ? [login.passphrase] : [])];
  for (const [nth, content] of taken.entries()) server.sendSecret(lease, own.length + nth, "file", content);
  const first = own.length;
  const target: ShellTarget = {
    host: "127.0.0.1",
    port: ssh.port,
    userName: ssh.userName,
    workingDirectory: null,
    auth:
      "password" in login
        ? { kind: "password", password: first }
        : { kind: "key", key: first, passphrase: login.passphrase ? first + 1 : null },
    ...where,
  };
  const uses = [
    ...own.map(() => ({ as: "value" as const, label: "account.secret" })),
    ...taken.map((_, nth) => ({ as: "file" as const, label: `account.login_${nth}` })),
  ];
  const env = own.map((_, nth) => ({ name: "SECRET", parts: [nth] }));
  return server.run({ ...work, secrets: { uses, env }, target }, lease);
}

const succeeded = { kind: "exited", exitCode: 0, outputs: [] } as const;

test(
  "with a key: the script gets variables, input and folder; both outputs, output variables and exit code come back",
  needsSsh,
  async (t) => {
    const place = await delegate(t);
    const task = runThere({
      script: `echo "user=$(id -un) at $PWD home $HOME"; echo "value=$A"; echo err >&2; echo dev >/dev/stderr
read -r line || echo no input; X='a b'; Y=$'two\\nlines'; exec 8>/dev/null 9>/dev/null; trap 'echo bye' EXIT; set -x`,
      env: [
        { name: "A", value: `${VALUE}\nsecond line` },
        { name: "UID", value: "5" },
        { name: "IFS", value: "abc" },
      ],
      outputs: [
        { name: "x", variable: "X" },
        { name: "y", variable: "Y" },
        { name: "none", variable: "NOT_SET" },
      ],
    });
    const { outcome } = await task.finished;
    const shown = task.output().toString();
    const outputs = [
      { name: "x", value: "a b" },
      { name: "y", value: "two\nlines" },
    ];
    // The output says why a host refused a login.
    assert.deepEqual({ outcome, shown }, { outcome: { kind: "exited", exitCode: 0, outputs }, shown });
    assert.ok(
      shown.includes(
        `user=${ssh.userName} at ${ssh.home} home ${ssh.home}\nvalue=${VALUE}\nsecond line\nerr\ndev\nno input\n`,
      ),
      shown,
    );
    assert.match(shown, /bye\n$/);
    assert.match(readFileSync(join(place.path, "known_hosts"), "utf8"), /^\[127\.0\.0\.1\]:\d+ ssh-ed25519 \S+\n$/);
    const failed = runThere({ script: "exit 7", outputs: [{ name: "x", variable: "X" }] });
    assert.deepEqual((await failed.finished).outcome, { kind: "exited", exitCode: 7, outputs: [] });
    const like = runThere({ script: "exit 255" });
    assert.deepEqual((await like.finished).outcome, { kind: "exited", exitCode: 255, outputs: [] });
  },
);

test("a step runs in its working directory, with any name; an absent directory fails the step", needsSsh, async (t) => {
  await delegate(t);
  mkdirSync(join(ssh.home, "-"), { recursive: true, mode: 0o777 });
  const there = runThere({ script: "pwd" }, undefined, { workingDirectory: "-" });
  assert.deepEqual((await there.finished).outcome, succeeded);
  assert.ok(
    there
      .output()
      .toString()
      .endsWith(`${join(ssh.home, "-")}\n`),
    there.output().toString(),
  );
  const quoted = runThere({ script: "echo ran" }, undefined, { workingDirectory: "/'$(touch /tmp/x)'" });
  assert.deepEqual((await quoted.finished).outcome, { kind: "exited", exitCode: 1, outputs: [] });
  assert.match(quoted.output().toString(), /working directory cannot be entered/);
  assert.ok(!quoted.output().includes("ran"));
});

test(
  "a login works with a key and passphrase and with a password, also with line ends of an editor",
  needsSsh,
  async (t) => {
    await delegate(t);
    const ofWindows = (text: string): string => text.replaceAll("\n", "\r\n");
    for (const login of [
      { key: ssh.lockedKey, passphrase: ssh.passphrase },
      { key: ssh.key.trimEnd() },
      { key: ofWindows(ssh.key) },
      { key: ofWindows(ssh.key).trimEnd() },
      { key: `\uFEFF\r\nthe key of the web hosts:\r\n${ofWindows(ssh.key)}\r\n\r\n` },
      { key: ofWindows(ssh.lockedKey), passphrase: `${ssh.passphrase}\r\n` },
      { password: ssh.password },
      { password: `${ssh.password}\n` },
      { password: `${ssh.password}\r\n` },
    ]) {
      const task = runThere({ script: "echo there" }, login);
      assert.deepEqual((await task.finished).outcome, succeeded, task.output().toString());
      assert.match(task.output().toString(), /there\n$/);
    }
  },
);

test(
  "a wrong password, passphrase or key runs nothing, and the log has ssh's reason without any of them",
  needsSsh,
  async (t) => {
    await delegate(t);
    for (const login of [
      { password: "wrong-password-here" },
      { key: ssh.lockedKey, passphrase: "wrong-passphrase-here" },
      { key: ssh.key.replace(/\n.{9}/, "\n") },
    ]) {
      const task = runThere({ script: `touch ${ssh.home}/was-here` }, login);
      const { outcome } = await task.finished;
      const log = task.output().toString();
      assert.deepEqual(
        outcome,
        { kind: "refused", message: "nothing was run on 127.0.0.1: ssh ended with 255; its log says why" },
        log,
      );
      assert.match(log, /Permission denied/);
      for (const part of ["wrong-", ssh.lockedKey.split("\n")[2] ?? "?"]) assert.ok(!log.includes(part), log);
    }
    assert.ok(!existsSync(join(ssh.home, "was-here")));
  },
);

test(
  "a key that ssh cannot use is refused before ssh runs, with the reason and the secret's name",
  needsSsh,
  async (t) => {
    await delegate(t);
    const lines = ssh.key.split("\n");
    for (const [key, why] of [
      [ssh.lockedKey, /^is encrypted, and the credential names no passphrase$/],
      ["this is no private key at all\n", /^is no private key: it has no line -----BEGIN … PRIVATE KEY-----$/],
      [await ssh.knownHost(), /^is no private key/],
      [`ssh-ed25519 ${lines[1]} me@home\n`.replace(/ \S+ /, " AAAAC3NzaC1lZDI1NTE5 "), /^is a public key; /],
      [lines.slice(0, 4).join("\n"), /^is cut off: it has no line -----END OPENSSH PRIVATE KEY-----$/],
      ["PuTTY-User-Key-File-3: ssh-ed25519\r\n", /^has the form of PuTTY, .*-O private-openssh$/],
      [`${ssh.key}${"#".repeat(1024 * 1024)}`, /^has more than 1024 KiB/],
    ] as const) {
      const task = runThere({ script: `touch ${ssh.home}/was-here` }, { key });
      const { outcome } = await task.finished;
      assert.equal(outcome.kind, "refused", JSON.stringify(outcome));
      const about = "the key of its SSH credential, the secret [account.login_0], ";
      assert.ok(outcome.kind === "refused" && outcome.message.startsWith(about), JSON.stringify(outcome));
      assert.match(outcome.message.slice(about.length), why);
      assert.equal(task.output().toString(), "");
    }
    assert.ok(!existsSync(join(ssh.home, "was-here")));
  },
);

test("a host that is not in the operator's file, or has another key, gets no login", needsSsh, async (t) => {
  const place = createPlace();
  const file = join(place.path, "known");
  t.after(place.remove);
  writeFileSync(
    file,
    "other.example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4v6cTlRWyJ1Vbj1k0Zs1ZsVYh9S2c5mU0bQqk1c1eA\n",
  );
  const own = await delegate(t, { knownHosts: file });
  const ends = async () => {
    const task = runThere({ script: "echo there" }, { password: ssh.password });
    const { outcome } = await task.finished;
    return { kind: outcome.kind, log: task.output().toString() };
  };
  const unknown = await ends();
  assert.equal(unknown.kind, "refused");
  assert.match(unknown.log, /Host key verification failed/);
  // The file is read for each step.
  writeFileSync(file, await ssh.knownHost());
  assert.equal((await ends()).kind, "exited");
  await ssh.changeKey();
  const changed = await ends();
  assert.equal(changed.kind, "refused");
  assert.match(changed.log, /REMOTE HOST IDENTIFICATION HAS CHANGED/);
  assert.ok(!existsSync(join(own.path, "known_hosts")));
  rmSync(file);
  const task = runThere({ script: "echo there" });
  const { outcome } = await task.finished;
  assert.ok(outcome.kind === "lost" && outcome.message.includes("ENOENT"), JSON.stringify(outcome));
});

test("the first key of a host is accepted, and later only this key", needsSsh, async (t) => {
  const place = await delegate(t);
  const known = (): string => readFileSync(join(place.path, "known_hosts"), "utf8");
  const first = runThere({ script: "true" });
  await first.finished;
  assert.match(first.output().toString(), /Permanently added '\[127\.0\.0\.1\]:\d+'/);
  const believed = known();
  const again = runThere({ script: "true" });
  await again.finished;
  assert.ok(!again.output().includes("Permanently added"));
  await ssh.changeKey();
  const changed = runThere({ script: "echo there" }, { password: ssh.password });
  assert.equal((await changed.finished).outcome.kind, "refused");
  assert.match(changed.output().toString(), /REMOTE HOST IDENTIFICATION HAS CHANGED/);
  assert.equal(known(), believed);
});

const LEAVES = `sleep 1000 & echo "child=$!"; setsid sleep 1000 & echo "away=$!"
( trap '' TERM; exec sleep 1000 ) & echo "deaf=$!"; echo "leader=$$"`;
const PIDS = ["child", "away", "deaf", "leader"];

test(
  "an abort ends all processes on the host, including those outside of the script's group or ignoring signals",
  needsSsh,
  async (t) => {
    await delegate(t);
    const task = runThere({
      script: `${LEAVES}\ntrap 'echo asked to end' TERM; echo ready; while :; do sleep 0.1; done`,
    });
    await task.printed("ready");
    server.send({ kind: "cancel", task: task.task, epoch: task.epoch });
    const { outcome } = await task.finished;
    assert.deepEqual(outcome, { kind: "cancelled", survivors: 0 });
    for (const name of PIDS) assertEnded(printedPid(task.output(), name), name);
    assert.match(task.output().toString(), /asked to end/);
  },
);

test("the host ends the script if ssh or its connection is killed", needsSsh, async (t) => {
  await delegate(t);
  for (const whose of ["here", "there"]) {
    const task = runThere({ script: `${LEAVES}\necho ready; sleep 1000` });
    await task.printed("ready");
    const name = whose === "here" ? client() : new RegExp(`^sshd: ${ssh.userName}(?:@|$)`);
    const found = livingProcesses(2).filter(({ pid }) => name.test(commandOf(pid)));
    assert.equal(found.length, 1, `${whose}: ${found.length}`);
    process.kill(found[0]?.pid ?? 0, "SIGKILL");
    const { outcome } = await task.finished;
    assert.deepEqual(
      [
        outcome.kind,
        "message" in outcome && outcome.message.startsWith("the connection to 127.0.0.1 ended before the script had"),
      ],
      ["refused", true],
      JSON.stringify(outcome),
    );
    for (const one of PIDS) {
      const pid = printedPid(task.output(), one);
      await until(
        () => livingProcesses(pid).some((info) => info.pid === pid),
        (isLiving) => !isLiving,
      );
    }
  }
});

/** The command line of an ssh client of this server. */
const client = (): RegExp => new RegExp(`^ssh\\x00-F\\x00none\\x00.*\\x00-p\\x00${ssh.port}\\x00`, "s");

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/^\/[^\0]*\/ssh\0/, "ssh\0");
  } catch {
    return "";
  }
}

test("processes that a script leaves on the host end with it and delay nothing", needsSsh, async (t) => {
  await delegate(t);
  const task = runThere({ script: `${LEAVES}\nX=1`, outputs: [{ name: "x", variable: "X" }] });
  const { outcome } = await task.finished;
  assert.deepEqual(outcome, { kind: "exited", exitCode: 0, outputs: [{ name: "x", value: "1" }] });
  for (const name of PIDS) assertEnded(printedPid(task.output(), name), name);
});

test(
  "script, variables and login are in no argument and no file of the host or the work folder; output is masked",
  needsSsh,
  async (t) => {
    const place = await delegate(t);
    const secret = "only-for-the-step-4711";
    const script = `cat /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c -e "only-for-th[e]" -e "uniqu[e]-word"
find "$HOME" /tmp -newer "$0" -type f 2>/dev/null | head; echo "it is $SECRET and ${ssh.password}"; # unique-word
 cat </dev/null; ls -l /dev/shm 2>/dev/null >/dev/null
echo ready; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; rm -f "$HOME/go"`;
    const task = runThere({ script }, { password: ssh.password }, {}, secret);
    await task.printed("ready");
    const folder = join(place.path, "tasks", `${task.task}.1`);
    for (const pid of livingProcesses(2).map((info) => info.pid)) {
      assert.ok(!commandOf(pid).includes(secret) && !commandOf(pid).includes(ssh.password), commandOf(pid));
      assert.ok(!environmentHas(pid, ssh.password), `the password is in the environment of ${commandOf(pid)}`);
    }
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      // The raw output of a step is stored unmasked (docs/decisions/0014-masked-output.md).
      if (file === "output" || ["work", "tmp"].includes(file)) continue;
      const text = readFileSync(join(folder, file), "latin1");
      for (const word of [secret, ssh.password, "unique-word"]) assert.ok(!text.includes(word), `${word} in ${file}`);
    }
    const safe = join(runtimeFolderOf(place), `${task.task}.1`);
    const kept = readdirSync(join(safe, "files"));
    assert.ok(kept.includes("payload") && kept.length === 2, kept.join());
    writeFileSync(join(ssh.home, "go"), "");
    assert.deepEqual((await task.finished).outcome, succeeded);
    const shown = task.output().toString();
    assert.match(shown, /^0$/m);
    assert.match(shown, /^it is \*{14} and \*{14}$/m);
    assert.ok(!existsSync(join(safe, "files")));
    const telling = runThere({ script: 'X="$SECRET"', outputs: [{ name: "x", variable: "X" }] }, undefined, {}, secret);
    assert.deepEqual((await telling.finished).outcome, {
      kind: "refused",
      message: "its output variable 'x' holds a secret; none was taken",
    });
  },
);

test("no other step can read a step's login, and ssh runs as a user without other processes", needsSsh, async (t) => {
  const place = await delegate(t);
  const task = runThere({ script: 'echo ready; while [ ! -e "$HOME/go2" ]; do sleep 0.05; done' });
  await task.printed("ready");
  const files = join(runtimeFolderOf(place), `${task.task}.1`, "files");
  const found = livingProcesses(2).find(({ pid }) => client().test(commandOf(pid)));
  assert.ok(found);
  const other = server.run({
    script: `ls '${files}'; cat '${files}'/*; cat /proc/${found.pid}/environ; kill -0 ${found.pid}; echo done`,
  });
  await other.finished;
  const seen = other.output().toString();
  assert.ok(!seen.includes("PRIVATE KEY") && !seen.includes("__railhead"), seen);
  assert.equal(seen.match(/Permission denied|not permitted|No such file/g)?.length, 4, seen);
  writeFileSync(join(ssh.home, "go2"), "");
  await task.finished;
});

test(
  "a step on a host continues when the delegate is killed, and the next delegate reports its end",
  needsSsh,
  async (t) => {
    const place = createPlace();
    t.after(place.remove);
    const env = { RAILHEAD_DELEGATE_TOKEN: TOKEN };
    const first = spawnDelegate(optionsFor(server, place), env);
    await server.welcomed();
    const task = runThere({
      script: 'echo ready; while [ ! -e "$HOME/go3" ]; do sleep 0.05; done; X=after; echo over',
      outputs: [{ name: "x", variable: "X" }],
    });
    await task.printed("ready");
    await first.kill();
    await server.disconnected();
    writeFileSync(join(ssh.home, "go3"), "");
    const second = spawnDelegate(optionsFor(server, place), env);
    assert.deepEqual((await task.finished).outcome, {
      kind: "exited",
      exitCode: 0,
      outputs: [{ name: "x", value: "after" }],
    });
    assert.match(task.output().toString(), /over\n$/);
    assert.match(readFileSync(join(place.path, "known_hosts"), "utf8"), /ssh-ed25519/);
    await second.kill();
    await server.disconnected();
  },
);

test("a delegate without ssh names what is missing and takes other tasks", needsSsh, async (t) => {
  const empty = createPlace();
  t.after(empty.remove);
  await delegate(t, { stepPath: empty.path });
  const { outcome } = await runThere({ script: "true" }).finished;
  assert.ok(
    outcome.kind === "lost" && /has no program 'ssh'.*openssh-client/.test(outcome.message),
    JSON.stringify(outcome),
  );
  assert.deepEqual((await server.run({ script: ":" }).finished).outcome, succeeded);
});

test("a message with a host or user that could be an option of ssh is invalid", () => {
  const work = (target: object): unknown => ({
    kind: "shell",
    version: 1,
    script: "",
    env: [],
    outputs: [],
    secrets: { uses: [{ as: "file", label: "k" }], env: [] },
    target: {
      host: "web1",
      port: 22,
      userName: "root",
      workingDirectory: null,
      auth: { kind: "password", password: 0 },
      ...target,
    },
  });
  assert.ok(shellTask.safeParse(work({})).success);
  for (const host of ["-oProxyCommand=id", "-v", "a b", "a\nb", "", "root@web1", "$(id)", "a;b", "ssh://web1", "%h"])
    assert.ok(!shellTask.safeParse(work({ host })).success, host);
  for (const userName of ["-oProxyCommand=id", "a b", "", "$(id)", "a'b", "a\\", "a\u0007", "a".repeat(129)])
    assert.ok(!shellTask.safeParse(work({ userName })).success, userName);
  for (const userName of ["EXAMPLE\\ada", "ada@example.com", "_", "a-"])
    assert.ok(shellTask.safeParse(work({ userName })).success, userName);
  for (const port of [0, 65_536, "22"]) assert.ok(!shellTask.safeParse(work({ port })).success, String(port));
});

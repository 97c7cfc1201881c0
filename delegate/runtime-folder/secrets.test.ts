/** Secrets on the delegate: they reach their step only, and are masked and removed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ShellTask } from "../../protocol/work/shell.ts";
import { MASK } from "../mask/marks.ts";
import {
  createSignal,
  connectDelegate,
  createPlace,
  runtimeFolderOf,
  createSignalFolder,
  optionsFor,
  printedPid,
  spawnDelegate,
  TOKEN,
} from "../testing/kit.ts";
import { newTaskId, type PretendServer, startPretendServer } from "../testing/pretend-server.ts";

const VALUE = "s3cr3t-Pa55/word";
const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root: only then steps have users of their own" };

const { path: signs, remove } = createSignalFolder();
after(remove);

const uses = (...kinds: readonly ("value" | "file")[]): NonNullable<ShellTask["secrets"]> => ({
  uses: kinds.map((as, nth) => ({ as, label: `account.secret_${nth}` })),
  env: kinds.map((_, nth) => ({ name: `S${nth}`, parts: [nth] })),
});

const newLease = () => ({ task: newTaskId(), epoch: 1 });

type Scene = {
  readonly server: PretendServer;
  readonly place: ReturnType<typeof createPlace>;
  readonly runtimeFolder: () => string;
};

async function scene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const place = createPlace();
  const server = await startPretendServer();
  const runtimeFolder = (): string => runtimeFolderOf(place);
  try {
    await play({ server, place, runtimeFolder });
  } finally {
    rmSync(runtimeFolder(), { recursive: true, force: true });
    await server.close();
    place.remove();
  }
}

/** A scene with one delegate in this process. */
const inProcess = (play: (scene: Scene) => Promise<void>): Promise<void> =>
  scene(async (parts) => {
    const delegate = await connectDelegate(parts.server, parts.place);
    try {
      await play(parts);
    } finally {
      await delegate.stop();
    }
  });

test("a value arrives in the environment, also inside other text, and leaves masked", () =>
  inProcess(async ({ server }) => {
    const lease = newLease();
    server.sendSecret(lease, 0, "value", VALUE);
    const task = server.run(
      {
        script: `[ "$S0" = '${VALUE.slice(0, 4)}''${VALUE.slice(4)}' ] && echo same; echo "$URL"; echo "$S0" | base64; set -x; : "$S0"`,
        secrets: { ...uses("value"), env: [...uses("value").env, { name: "URL", parts: ["https://me:", 0, "@host"] }] },
      },
      lease,
    );
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    const shown = task.output().toString();
    assert.match(shown, /^same\nhttps:\/\/me:\*{14}@host\n\*{14}.{0,4}\n\+\+ : \*{14}\n$/);
  }));

test(
  "nothing of a secret is in argv, in the script, or in any file of the work folder but the raw output",
  onlyAsRoot,
  () =>
    inProcess(async ({ server, place, runtimeFolder }) => {
      const lease = newLease();
      server.sendSecret(lease, 0, "value", VALUE);
      const task = server.run(
        { script: `cat /proc/*/cmdline | tr '\\0' ' '; echo end; ${until("go")}`, secrets: uses("value") },
        lease,
      );
      await task.printed("end");
      assert.ok(!task.output().includes(MASK), "it stood in an argument");
      const folder = join(place.path, "tasks", `${lease.task}.1`);
      for (const path of [
        ...["journal", "masked", "masked-to"].map((name) => join(folder, name)),
        join(runtimeFolder(), `${lease.task}.1`, "script.sh"),
      ])
        assert.ok(!readFileSync(path).includes(VALUE), `it stands in ${path}`);
      createSignal(place, lease, "go");
      await task.finished;
    }),
);

test("a step whose secrets are too large to be masked is refused before it starts, and the next one runs", () =>
  inProcess(async ({ server }) => {
    const lease = newLease();
    const kinds = Array.from({ length: 97 }, () => "file" as const);
    for (const nth of kinds.keys()) server.sendSecret(lease, nth, "file", Buffer.alloc(64 * 1024, `${nth} `));
    const task = server.run({ script: "echo started", secrets: uses(...kinds) }, lease);
    const { outcome } = await task.finished;
    assert.equal(outcome.kind, "refused");
    assert.match(outcome.message, /too large to be masked/);
    assert.equal(task.output().toString(), "");
    const next = await server.run({ script: "exit 0" }).finished;
    assert.deepEqual(next.outcome, { kind: "exited", exitCode: 0, outputs: [] });
  }));

test("a file has its content, only its step can read it, and it is gone with the step", onlyAsRoot, () =>
  inProcess(async ({ server, place, runtimeFolder }) => {
    const lease = newLease();
    const content = Buffer.from(Array.from({ length: 10 * 1024 * 1024 }, (_, at) => (at * 7 + (at >> 8)) & 255));
    server.sendSecret(lease, 0, "file", content);
    const script = `echo "path=$S0"; wc -c <"$S0"; md5sum <"$S0"; case "$S0" in "$PWD"*) echo inside;; esac; ${until("go")}`;
    const task = server.run({ script, secrets: uses("file") }, lease);
    await task.printed("-\n");
    const path = /^path=(.*)$/m.exec(task.output().toString())?.[1] ?? assert.fail("no path");
    assert.deepEqual(readFileSync(path), content);
    assert.equal(statSync(path).mode & 0o777, 0o400);
    assert.ok(!task.output().includes("inside"), "it lies in the working directory");
    const other = server.run({
      script: `cat '${path}' || ls '${runtimeFolder()}' '${runtimeFolder()}/${lease.task}.1' || echo no`,
    });
    await other.finished;
    assert.match(other.output().toString(), /Permission denied[\s\S]*Permission denied[\s\S]*no\n$/);
    createSignal(place, lease, "go");
    await task.finished;
    assert.equal(existsSync(path), false);
  }),
);

test("the environment of a step can be read by no other step", onlyAsRoot, () =>
  inProcess(async ({ server, place }) => {
    const lease = newLease();
    server.sendSecret(lease, 0, "value", VALUE);
    const task = server.run({ script: `echo "pid=$$"; ${until("go")}`, secrets: uses("value") }, lease);
    await task.printed("\n");
    const pid = printedPid(task.output(), "pid");
    assert.ok(readFileSync(`/proc/${pid}/environ`).includes(VALUE), "root sees it there");
    const other = server.run({
      script: `cat /proc/${pid}/environ; ps eww -p ${pid}; tr '\\0' ' ' </proc/${pid}/cmdline; true`,
    });
    await other.finished;
    assert.ok(!other.output().includes(VALUE));
    assert.match(other.output().toString(), /Permission denied/);
    createSignal(place, lease, "go");
    await task.finished;
  }),
);

for (const end of ["cancel", "failure"] as const)
  test(`after a ${end} no file is left`, () =>
    inProcess(async ({ server, runtimeFolder }) => {
      const lease = newLease();
      server.sendSecret(lease, 0, "file", "content of the file");
      const task = server.run(
        { script: end === "cancel" ? `echo "at $S0"; sleep 60` : "exit 3", secrets: uses("file") },
        lease,
      );
      if (end === "cancel") {
        await task.printed("at ");
        server.send({ kind: "cancel", ...lease });
      }
      await task.finished;
      await forgotten(server, lease);
      assert.deepEqual(secretsIn(runtimeFolder()), []);
    }));

test("an output variable with a secret, or with what gives it away, is refused and named", () =>
  inProcess(async ({ server }) => {
    for (const script of ['X="user:$S0"', 'X=$(printf %s "user:$S0" | base64)']) {
      const lease = newLease();
      server.sendSecret(lease, 0, "value", VALUE);
      const outputs = [
        { name: "fine", variable: "PWD" },
        { name: "token", variable: "X" },
      ];
      const { outcome } = await server.run({ script, secrets: uses("value"), outputs }, lease).finished;
      assert.deepEqual(outcome, {
        kind: "refused",
        message: "its output variable 'token' holds a secret; none was taken",
      });
    }
  }));

test("a secret that comes in pieces is put together; its task does not start without it", () =>
  inProcess(async ({ server }) => {
    const lease = newLease();
    server.sendSecret(lease, 0, "value", VALUE, 3);
    server.sendSecret(lease, 1, "file", "0123456789", 4);
    const task = server.run(
      {
        script: `[ "\${#S0}" = ${VALUE.length} ] && [ "$(cat "$S1")" = 01234''56789 ]`,
        secrets: uses("value", "file"),
      },
      lease,
    );
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    const late = server.run({ script: "echo started", secrets: uses("value") });
    assert.deepEqual((await late.finished).outcome, {
      kind: "lost",
      message: "The secret 'account.secret_0' did not come with its task.",
    });
    assert.equal(late.output().toString(), "");
  }));

test("secrets that arrived before the connection was lost are discarded, and have to be sent again", () =>
  inProcess(async ({ server, runtimeFolder }) => {
    const lease = newLease();
    server.sendSecret(lease, 0, "file", "content");
    const heard = newLease();
    await server.run({ script: ":" }, heard).finished;
    assert.deepEqual(readdirSync(join(runtimeFolder(), "incoming")), [`${lease.task}.1`]);
    const gone = server.disconnected();
    server.cut();
    await gone;
    await server.welcomed();
    assert.deepEqual(readdirSync(join(runtimeFolder(), "incoming")), []);
    assert.equal((await server.run({ script: ":", secrets: uses("file") }, lease).finished).outcome.kind, "lost");
  }));

test("a task that is cancelled while its secrets are on their way is not begun by its late run", () =>
  inProcess(async ({ server }) => {
    const lease = newLease();
    const sign = join(signs, "begun");
    server.send({ kind: "cancel", ...lease });
    // They had left the server before the answer was there.
    server.sendSecret(lease, 0, "value", VALUE);
    const task = server.run({ script: `: >'${sign}'`, secrets: uses("value") }, lease);
    assert.equal((await task.finished).outcome.kind, "lost");
    assert.equal(existsSync(sign), false);
  }));

test("a value that no process can be given fails the step without showing it", () =>
  inProcess(async ({ server }) => {
    for (const [value, why] of [
      [`${VALUE}\0`, /NUL/],
      [VALUE.repeat(20_000), /E2BIG|could not start/],
    ] as const) {
      const lease = newLease();
      server.sendSecret(lease, 0, "value", value);
      const { outcome } = await server.run({ script: "echo started", secrets: uses("value") }, lease).finished;
      assert.equal(outcome.kind, "lost");
      assert.match(outcome.kind === "lost" ? outcome.message : "", why);
      assert.ok(!JSON.stringify(outcome).includes(VALUE));
    }
  }));

test("after kill -9 of the delegate the rest is masked too, and the files of steps that have ended are gone", () =>
  scene(async ({ server, place, runtimeFolder }) => {
    const first = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await server.welcomed();
    const [goes, ends] = [newLease(), newLease()];
    const tell = (at: number) => `${VALUE.slice(0, at)}''${VALUE.slice(at)}`;
    for (const lease of [goes, ends]) server.sendSecret(lease, 0, "file", `a file\n${VALUE}\n`);
    const half = `printf '%s' '${VALUE.slice(0, 9)}'`;
    const rest = `printf '%s\\n' '${VALUE.slice(9)}'`;
    const script = `echo "path=$S0"; ${half}; touch '${signs}/half'; ${until("go")}; ${rest}; cat "$S0"; echo '${tell(5)}' done`;
    const task = server.run({ script, secrets: uses("file") }, goes);
    const other = server.run(
      {
        script: `cat "$S0"; echo "path=$S0"; echo; echo; echo end; touch '${signs}/ended'; ${until("go")}`,
        secrets: uses("file"),
      },
      ends,
    );
    await task.printed("\n");
    await other.printed("path=");
    await other.printed("end\n");
    await first.kill();
    createSignal(place, ends, "go");
    await gone(place, ends);
    const files = [task, other].map(({ output }) => /^path=(.*)$/m.exec(output().toString())?.[1] ?? assert.fail());
    assert.deepEqual(
      files.map((path) => existsSync(path)),
      [true, true],
    );
    server.cut();
    const second = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await other.finished;
    assert.deepEqual(
      files.map((path) => existsSync(path)),
      [true, false],
    );
    createSignal(place, goes, "go");
    await task.finished;
    assert.equal(existsSync(files[0] ?? ""), false);
    for (const { output } of [task, other]) {
      assert.ok(!output().includes(VALUE) && !output().includes(VALUE.slice(9)), output().toString());
      assert.ok(output().includes(MASK), output().toString());
    }
    assert.match(task.output().toString(), /\*{14} done\n$/);
    await forgotten(server, goes);
    await second.kill();
    assert.deepEqual(secretsIn(runtimeFolder()), []);
  }));

test("the next delegate removes secrets of a task that a killed one had not started", () =>
  scene(async ({ server, place, runtimeFolder }) => {
    const first = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await server.welcomed();
    server.sendSecret(newLease(), 0, "file", "never used");
    await server.run({ script: ":" }).finished;
    assert.equal(readdirSync(join(runtimeFolder(), "incoming")).length, 1);
    await first.kill();
    server.cut();
    const second = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await server.welcomed();
    assert.deepEqual(secretsIn(runtimeFolder()), []);
    await second.kill();
  }));

test("without its masks, as after a restart of the machine, unmasked output is withheld", () =>
  scene(async ({ server, place, runtimeFolder }) => {
    const first = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await server.welcomed();
    const lease = newLease();
    server.sendSecret(lease, 0, "value", VALUE);
    const task = server.run(
      {
        script: `echo before; ${until("go")}; echo "$S0"; X=1`,
        secrets: uses("value"),
        outputs: [{ name: "x", variable: "X" }],
      },
      lease,
    );
    await task.printed("before");
    await first.kill();
    rmSync(join(runtimeFolder(), `${lease.task}.1`, "masks"));
    server.cut();
    const second = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    await server.welcomed();
    createSignal(place, lease, "go");
    const { outcome } = await task.finished;
    assert.match(task.output().toString(), /^before\nrailhead: 17 bytes of output are withheld: /);
    assert.deepEqual(outcome, { kind: "refused", message: "its output variable 'x' holds a secret; none was taken" });
    await second.kill();
  }));

test("a step makes no core dump unless it asks for one", () =>
  scene(async ({ server, place }) => {
    const main = new URL("../main.ts", import.meta.url).pathname;
    const raised = 'ulimit -S -c unlimited && exec "$@"';
    const delegate = spawn(
      "bash",
      ["-c", raised, "raised", process.execPath, main, ...optionsFor(server, place), "--token", TOKEN],
      { stdio: ["pipe", "ignore", "ignore"], env: { PATH: process.env["PATH"] } },
    );
    const ended = once(delegate, "exit");
    try {
      await server.welcomed();
      assert.match(readFileSync(`/proc/${delegate.pid}/limits`, "utf8"), /^Max core file size +unlimited /m);
      const task = server.run({ script: "ulimit -S -c" });
      await task.finished;
      assert.equal(task.output().toString(), "0\n");
    } finally {
      delegate.kill("SIGKILL");
      await ended;
    }
  }));

/** Files that hold secrets, in the folder of a delegate. */
const secretsIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\/(?:masks$|files)|^incoming\//.test(path),
  );

/** Shell text that waits for a sign in the working directory. */
const until = (sign: string): string => `until [ -e ${sign} ]; do sleep 0.02; done`;

/** Settles when the delegate has forgotten the task: it answers a later one. */
async function forgotten(server: PretendServer, lease: { readonly task: string }): Promise<void> {
  assert.notEqual((await server.run({ script: ":" }).finished).outcome, undefined, lease.task);
}

/** Settles when the step's runner has ended. */
async function gone(place: { readonly path: string }, { task, epoch }: { task: string; epoch: number }): Promise<void> {
  const { fileHolds } = await import("../testing/kit.ts");
  await fileHolds(join(place.path, "tasks", `${task}.${epoch}`, "journal"), "copied");
}

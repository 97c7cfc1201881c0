/** A delegate that starts while other users have filled memory keeps no secret on the disk: real small file systems. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import { createPlace, optionsFor, TOKEN } from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";
import { listRuntimeFolders } from "./runtime-path.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};
const PARENTS = ["/run", "/dev/shm"] as const;
const FILL = `for path in ${PARENTS.join(" ")}; do
  mkdir $path/fill; n=0; while : >$path/fill/$n; do n=$((n + 1)); done
done 2>/dev/null`;

const SMALL = "size=16m,nr_inodes=300";
const NAME = /railhead-[0-9a-f]{32}/g;

/** A delegate whose memory is small file systems with these options, after `prepare` was run there. */
async function startWithMemory(t: TestContext, options: string, prepare: string) {
  const place = createPlace();
  const server = await startPretendServer();
  const mount = PARENTS.map((path) => `mount -t tmpfs -o ${options},mode=1777 railhead-test ${path}`).join("; ");
  const begin = `${mount}; ${prepare}; echo ready; exec sleep inf`;
  const holder = spawn("/usr/bin/unshare", ["--mount", "/bin/bash", "-c", begin]);
  const [text] = (await Promise.race([once(holder.stdout, "data"), once(holder, "exit")])) as [unknown];
  assert.equal(String(text), "ready\n");
  const enter = `--mount=/proc/${holder.pid}/ns/mnt`;
  const args = [enter, process.execPath, MAIN, ...optionsFor(server, place), "--token", TOKEN];
  const child = spawn("/usr/bin/nsenter", args, { stdio: ["pipe", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    holder.kill("SIGKILL");
    await server.close();
    place.remove();
  });
  const inside = (path: string): string => `/proc/${holder.pid}/root${path}`;
  await server.welcomed();
  return {
    place,
    server,
    log: (): string => log,
    run: (command: readonly string[]): void =>
      assert.equal(spawnSync("/usr/bin/nsenter", [enter, ...command]).status, 0),
    stop: async (): Promise<void> => {
      child.kill("SIGTERM");
      await ended;
    },
    /** What delegates have in memory, below its folders. */
    runtimeFiles: (): readonly string[] =>
      PARENTS.flatMap((path) =>
        readdirSync(inside(path), { recursive: true, encoding: "utf8" }).filter((name) => name.startsWith("railhead-")),
      ),
    runWithSecret: (as: "file" | "value", content: string) => {
      const lease = { task: newTaskId(), epoch: 1 };
      server.sendSecret(lease, 0, as, content);
      const secrets = { uses: [{ as, label: "account.word" }], env: [{ name: "FILE", parts: [0] }] };
      return server.run({ script: 'echo "${FILE%/*/*/*}"; cat "$FILE"', secrets }, lease);
    },
  };
}

test(
  "a delegate that starts while memory is full takes no task until there is space, and uses no disk",
  onlyAsRoot,
  async (t) => {
    const memory = await startWithMemory(t, SMALL, FILL);
    const { place, server, run, stop, runtimeFiles, runWithSecret } = memory;
    const reason = "is short of disk space: the folder for secrets in /dev/shm cannot be made: no space left on device";
    assert.equal(server.hellos.at(-1)?.unavailable, reason);
    const returned = server.next((message) => message.kind === "returned");
    runWithSecret("file", "word of a secret");
    await returned;
    assert.equal(existsSync(join(place.path, "secrets")), false);
    assert.deepEqual(runtimeFiles(), []);

    const available = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
    run(["rm", "-r", ...PARENTS.map((path) => `${path}/fill`)]);
    await available;
    const task = runWithSecret("file", "word of a secret");
    const { outcome } = await task.finished;
    assert.deepEqual(outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.match(task.output().toString(), /^\/dev\/shm\/railhead-[0-9a-f]{32}\n\*+/);
    assert.equal(existsSync(join(place.path, "secrets")), false);
    await stop();
    // The launcher removes the folder after its last step.
    run(["timeout", "60", "/bin/bash", "-c", "while compgen -G '/dev/shm/railhead-*' >&2; do sleep 0.02; done"]);
    assert.deepEqual(runtimeFiles(), []);
  },
);

test("the name that a delegate takes once memory has space is not shown before", onlyAsRoot, async (t) => {
  const { place, server, log, run, stop } = await startWithMemory(t, SMALL, FILL);
  const shown = [...(server.hellos.at(-1)?.unavailable ?? "").matchAll(NAME), ...log().matchAll(NAME)].map(String);
  const identity = readFileSync(join(place.path, "identity"), "utf8");
  shown.push(...listRuntimeFolders(identity).map((path) => basename(path)));
  assert.equal(shown.length, 1);
  const available = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
  // Another user takes all names that are shown, and then there is space for the delegate, too.
  const take = PARENTS.map(
    (path) => `rm ${path}/fill/0; mkdir ${shown.map((name) => `${path}/${name}`).join(" ")}; chown -R 65534 ${path}/*`,
  );
  run(["/bin/bash", "-ec", `${take.join("; ")}; rm -r ${PARENTS.map((path) => `${path}/fill`).join(" ")}`]);
  await available;
  await stop();
});

test(
  "a delegate that finds space for its folder in memory, but not for the lock, locks another",
  onlyAsRoot,
  async (t) => {
    const rest = PARENTS.map((path) => `rm ${path}/fill/0`).join("; ");
    const { server, run, runtimeFiles, stop } = await startWithMemory(t, SMALL, `${FILL}; ${rest}`);
    assert.match(server.hellos.at(-1)?.unavailable ?? "", /^is short of disk space/);
    const available = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
    run(["rm", "-r", ...PARENTS.map((path) => `${path}/fill`)]);
    await available;
    const names = runtimeFiles().map((path) => path.replace(NAME, "<folder>"));
    assert.deepEqual(names.toSorted(), ["<folder>", "<folder>/lock", "<folder>/work-folder"]);
    await stop();
  },
);

test("a step whose secrets find no space in memory leaves nothing there", onlyAsRoot, async (t) => {
  const { server, stop, runtimeFiles, runWithSecret } = await startWithMemory(t, "size=1m", "true");
  const returned = server.next((message) => message.kind === "returned");
  // Less than a value may have, and more than the file system.
  runWithSecret("value", "word ".repeat(250_000));
  await returned;
  assert.equal(
    runtimeFiles()
      .filter((name) => name.includes("homes/"))
      .join(),
    "",
  );
  await stop();
  assert.deepEqual(runtimeFiles(), []);
});

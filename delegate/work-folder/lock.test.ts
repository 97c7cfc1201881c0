/** The lock of a work folder, with delegates as processes, after kill -9, and beside a step that wants it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { lockWorkDir, tryLock } from "./lock.ts";
import {
  type DelegateProcess,
  createPlace,
  runtimeFolderOf,
  optionsFor,
  type Place,
  spawnDelegate,
  TOKEN,
} from "../testing/kit.ts";
import { type PretendServer, startPretendServer } from "../testing/pretend-server.ts";

async function setUp(t: TestContext) {
  const place = createPlace();
  const server: PretendServer = await startPretendServer();
  const begun: DelegateProcess[] = [];
  t.after(async () => {
    for (const { kill } of begun) await kill();
    await server.close();
    place.remove();
  });
  const start = (at: Place = place): DelegateProcess => {
    const delegate = spawnDelegate([...optionsFor(server, at), "--token", TOKEN]);
    begun.push(delegate);
    return delegate;
  };
  return { place, server, start };
}

/** Takes the lock's file of the folder, and that of the identity, as soon as they are free. */
const TAKE = `exec python3 -c '
import fcntl, os, sys
for path in sys.argv[1:]:
    try:
        file = os.open(path, os.O_RDWR)
        print("opened", flush=True)
        fcntl.lockf(file, fcntl.LOCK_EX)
    except OSError: pass
print("begun", flush=True)
os.read(os.pipe()[0], 1)
' "$LOCK" "$OTHER"`;

test("a running step cannot keep the delegate from starting again", async (t) => {
  const { place, server, start } = await setUp(t);
  const first = start();
  await server.welcomed();
  const env = [
    { name: "LOCK", value: join(place.path, "lock") },
    { name: "OTHER", value: join(runtimeFolderOf(place), "lock") },
  ];
  const step = server.run({ script: TAKE, env });
  await step.printed("begun");
  assert.doesNotMatch(step.output().toString(), /opened/);
  const left = server.disconnected();
  first.child.kill("SIGTERM");
  assert.equal(await first.exited, 0);
  await left;
  const second = start();
  await Promise.race([server.welcomed(), second.exited.then((code) => assert.equal(code, "running"))]);
  server.send({ kind: "cancel", task: step.task, epoch: 1 });
  await step.finished;
});

test("one delegate at a time: the second is refused, also when both start at once, until kill -9 of the first", async (t) => {
  const { place, server, start } = await setUp(t);
  const both = [start(), start()] as const;
  const refused = await Promise.race(both.map(async (delegate) => [delegate, await delegate.exited] as const));
  assert.equal(refused[1], 1);
  assert.match(await refused[0].errors, /another delegate is running on the work folder/);
  const running = both.find((delegate) => delegate !== refused[0]);
  await server.welcomed();
  assert.equal(tryLock(place.path), undefined);
  assert.equal(statSync(join(place.path, "lock")).mode & 0o777, 0o600);
  await running?.kill();
  await (
    await lockWorkDir(place.path)
  )();
  const welcome = server.nextWelcome();
  start();
  await welcome;
});

test("a delegate on a copy of a work folder is refused while the other runs", async (t) => {
  const { place, server, start } = await setUp(t);
  const copy = createPlace();
  t.after(copy.remove);
  const first = start();
  await server.welcomed();
  cpSync(place.path, copy.path, { recursive: true });
  const second = start(copy);
  assert.equal(await second.exited, 1);
  assert.match(await second.errors, /another delegate with the same identity is running on the work folder/);
  await first.kill();
  const welcome = server.nextWelcome();
  start(copy);
  await welcome;
});

test("a second attempt to lock a folder in the same process does not release the lock", async () => {
  const place = createPlace();
  const release = await lockWorkDir(place.path);
  assert.equal(tryLock(place.path), undefined);
  const module = JSON.stringify(new URL("lock.ts", import.meta.url).href);
  const code = `const { tryLock } = await import(${module}); process.exit(tryLock(process.argv[1]) ? 0 : 7);`;
  const other = (): number | null =>
    spawnSync(process.execPath, ["--input-type=module", "-e", code, place.path], { stdio: "ignore" }).status;
  assert.equal(other(), 7);
  await release();
  assert.equal(other(), 0);
  place.remove();
});

test("a lock in a folder that was moved does not count", async () => {
  const place = createPlace();
  const release = await lockWorkDir(place.path);
  renameSync(place.path, `${place.path}.gone`);
  await assert.rejects(lockWorkDir(place.path), /cannot be locked: ENOENT/);
  assert.equal(tryLock(`${place.path}.gone`), undefined);
  await release();
  renameSync(`${place.path}.gone`, place.path);
  await (
    await lockWorkDir(place.path)
  )();
  assert.deepEqual(readdirSync(place.path), ["lock"]);
  place.remove();
});

test("a lock that another process has for a moment does not count as a delegate's", async () => {
  const place = createPlace();
  const release = await lockWorkDir(place.path);
  let looks = 0;
  const again = await lockWorkDir(place.path, () => {
    looks += 1;
    if (looks === 7) void release();
  });
  assert.equal(looks, 7);
  await again();
  place.remove();
});

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { FIRST_ID, idsInUse, openStepIds, type Span, type StepIds } from "./step-ids.ts";
import { createPlace } from "../testing/kit.ts";
import { readOrCreateIdentity, prepareWorkDir } from "../work-folder/work-dir.ts";

const BLOCK = 0x4_0000;
const place = createPlace();
after(place.remove);
let registries = 0;

const newRegistry = (): string => join(place.path, `registry-${(registries += 1)}`, "ids");

type How = {
  readonly foreign?: readonly Span[];
  readonly chance?: number;
  /** Other tests' steps live meanwhile. */
  readonly alive?: ReadonlySet<number>;
};

function open(registry: string, workDir: string, { foreign = [], chance = 0, alive = new Set() }: How = {}): StepIds {
  const made = prepareWorkDir(join(place.path, workDir), false);
  return openStepIds({
    registry,
    workDir: made.path,
    identity: readOrCreateIdentity(made),
    chance: () => chance,
    foreign,
    alive,
  });
}

test("work folders have ids of their own, and the same ones again after a restart", () => {
  const registry = newRegistry();
  assert.equal(open(registry, "a").allocate(), FIRST_ID);
  assert.equal(open(registry, "b").allocate(), FIRST_ID + BLOCK);
  assert.equal(open(registry, "a").allocate(), FIRST_ID);
});

test("a moved work folder keeps its ids, also when another folder has its old path", () => {
  const registry = newRegistry();
  open(registry, "left");
  renameSync(join(place.path, "left"), join(place.path, "moved"));
  readOrCreateIdentity(prepareWorkDir(join(place.path, "left"), false));
  assert.equal(open(registry, "moved").allocate(), FIRST_ID);
  assert.equal(open(registry, "left").allocate(), FIRST_ID + BLOCK);
});

test("a registry that was begun and not written is made; a damaged one is named", () => {
  const empty = join(place.path, "empty-registry");
  writeFileSync(empty, "");
  assert.equal(open(empty, "checked").allocate(), FIRST_ID);
  const damaged = join(place.path, "damaged-registry");
  writeFileSync(damaged, "no database ".repeat(100));
  assert.throws(() => open(damaged, "checked"), /damaged-registry, where .* cannot be used: .*--step-user/);
});

test("an id comes again only when it is given back, and then as late as can be", () => {
  // The rest of the block is for launchers.
  const size = BLOCK - 1024;
  const ids = open(newRegistry(), "c", { chance: 1 - 2 / size });
  ids.reserve(FIRST_ID);
  const [one, two, three] = [ids.allocate(), ids.allocate(), ids.allocate()];
  assert.deepEqual([one, two, three], [FIRST_ID + size - 2, FIRST_ID + size - 1, FIRST_ID + 1]);
  ids.release(one);
  assert.equal(ids.allocate(), FIRST_ID + 2);
  for (let taken = 4; taken < size - 1; taken += 1) ids.allocate();
  assert.equal(ids.allocate(), one);
  assert.throws(() => ids.allocate(), /no user id is free/);
});

test("the ids of a work folder that is gone serve another; those of one that stands do not", () => {
  const registry = newRegistry();
  open(registry, "gone").allocate();
  open(registry, "stands").allocate();
  rmSync(join(place.path, "gone"), { recursive: true });
  assert.equal(open(registry, "new").allocate(), FIRST_ID);
  assert.equal(open(registry, "newer").allocate(), FIRST_ID + 2 * BLOCK);
  // Another work folder in the same place is another owner.
  rmSync(join(place.path, "stands"), { recursive: true });
  assert.equal(open(registry, "stands").allocate(), FIRST_ID + BLOCK);
});

test("a work folder whose identity is a pipe keeps its ids, and is not waited for", () => {
  const registry = newRegistry();
  assert.equal(open(registry, "replaced").allocate(), FIRST_ID);
  const identity = join(place.path, "replaced", "identity");
  rmSync(identity);
  execFileSync("/usr/bin/mkfifo", [identity]);
  assert.equal(open(registry, "other").allocate(), FIRST_ID + BLOCK);
});

test("ids that the machine's own files name are left out", () => {
  const foreign: readonly Span[] = [
    [FIRST_ID + BLOCK - 1, FIRST_ID + BLOCK],
    [100_000, 165_535],
  ];
  assert.equal(open(newRegistry(), "d", { foreign }).allocate(), FIRST_ID + 2 * BLOCK);
});

test("when all ids belong to work folders, the refusal says what to do", () => {
  const foreign: readonly Span[] = [[FIRST_ID, FIRST_ID + 256 * BLOCK]];
  assert.throws(() => open(newRegistry(), "e", { foreign }), /delete unused work folders, or use --step-user/);
});

test("a registry that cannot be used is named", () => {
  assert.throws(() => open("/etc/passwd/ids", "f"), /\/etc\/passwd\/ids, where .* cannot be used: .*--step-user/);
});

const onlyAsRoot = {
  skip:
    process.getuid?.() === 0 ? false : "run the tests as root: sudo npm test -- delegate/isolation/step-ids.test.ts",
};

test("an id of a living process is not allocated, even after its work folder was removed", onlyAsRoot, async () => {
  const registry = newRegistry();
  // The far end of the first block: no test's delegate comes there.
  const size = BLOCK - 1024;
  const id = FIRST_ID + size - 7;
  open(registry, "left").allocate();
  const child = spawn("sleep", ["inf"], { uid: id, gid: id, stdio: "ignore", cwd: "/" });
  await once(child, "spawn");
  try {
    const again = open(registry, "left", { chance: 1 - 7 / size, alive: idsInUse() });
    assert.equal(again.allocate(), id + 1);
    rmSync(join(place.path, "left"), { recursive: true });
    assert.equal(open(registry, "other", { alive: idsInUse() }).allocate(), FIRST_ID + BLOCK);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lockWorkDir } from "./lock.ts";
import { createPlace, spawnDelegate } from "../testing/kit.ts";
import { defaultWorkDir, readOrCreateIdentity, prepareWorkDir } from "./work-dir.ts";

const place = createPlace();
after(place.remove);

test("the identity is made once, is closed to others, and stays", () => {
  const workDir = prepareWorkDir(place.path, false);
  const identity = readOrCreateIdentity(workDir);
  assert.match(identity, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(readOrCreateIdentity(prepareWorkDir(place.path, false)), identity);
  assert.equal(readFileSync(join(place.path, "identity"), "utf8"), identity);
  assert.equal(statSync(join(place.path, "identity")).mode & 0o777, 0o600);
});

test("a damaged identity is not replaced", () => {
  const other = createPlace();
  writeFileSync(join(other.path, "identity"), "short");
  assert.throws(() => readOrCreateIdentity(prepareWorkDir(other.path, false)), /damaged/);
  other.remove();
});

test("an empty identity is replaced, unless tasks of the lost one are there", () => {
  const other = createPlace();
  const workDir = prepareWorkDir(other.path, false);
  const path = join(other.path, "identity");
  writeFileSync(path, "");
  const task = join(workDir.tasks, "task.1");
  mkdirSync(task);
  assert.throws(() => readOrCreateIdentity(workDir), /damaged/);
  rmdirSync(task);
  const identity = readOrCreateIdentity(workDir);
  assert.equal(readFileSync(path, "utf8"), identity);
  assert.equal(readOrCreateIdentity(workDir), identity);
  assert.deepEqual(readdirSync(other.path).toSorted(), ["identity", "spare", "tasks"]);
  other.remove();
});

test("a work folder that cannot be created is named", () => {
  assert.throws(() => prepareWorkDir("/etc/passwd/x", false), /work folder \/etc\/passwd\/x cannot be used/);
});

test("a name never leads out of the folder for delegates", () => {
  assert.equal(defaultWorkDir("../../etc", true), "/var/lib/railhead-delegate/__.._etc");
  assert.equal(defaultWorkDir("a b/ü", true), "/var/lib/railhead-delegate/a_b__");
});

test("one delegate per work folder; the lock is free when it is given back", async () => {
  const [one, two] = [join(place.path, "one"), join(place.path, "two")];
  for (const path of [one, two]) prepareWorkDir(path, false);
  const release = await lockWorkDir(one);
  await assert.rejects(lockWorkDir(one), new RegExp(`another delegate is running on the work folder ${one}`));
  const other = await lockWorkDir(two);
  await release();
  const again = await lockWorkDir(one);
  await Promise.all([again(), other()]);
});

test("a second program on the folder ends with a clear message", async () => {
  readOrCreateIdentity(prepareWorkDir(place.path, false));
  const release = await lockWorkDir(place.path);
  const second = spawnDelegate([
    "--url",
    "http://127.0.0.1:9",
    "--name",
    "x",
    "--token",
    "t",
    "--work-dir",
    place.path,
  ]);
  assert.equal(await second.exited, 1);
  assert.match(await second.errors, /another delegate is running on the work folder/);
  await release();
});

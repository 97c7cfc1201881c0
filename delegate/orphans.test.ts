import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lockWorkDir } from "./lock.ts";
import { noteOwner, removeOrphans } from "./orphans.ts";
import { makePlace } from "./testing/kit.ts";
import { identityOf, prepareWorkDir, type WorkDir } from "./work-dir.ts";

const place = makePlace();
after(place.remove);
const shelf = join(place.path, "shelf");
const dataDir = (name: string): string => join(place.path, `data-of-${name}`);

/** A work folder beside the others, whose data directory is there. */
function workFolder(name: string): WorkDir {
  const made = prepareWorkDir(join(shelf, name), false);
  identityOf(made);
  mkdirSync(dataDir(name));
  noteOwner(made, dataDir(name));
  return made;
}

test("only a work folder whose data directory is gone, that nobody uses and that holds no task, is removed", async () => {
  const [own, , gone, used, busy, bare] = ["own", "kept", "gone", "used", "busy", "bare"].map(workFolder);
  assert.ok(own && gone && used && busy && bare);
  for (const name of ["own", "gone", "used", "busy", "bare"]) rmSync(dataDir(name), { recursive: true });
  rmSync(join(bare.path, "owner"));
  mkdirSync(join(busy.tasks, "AAAAAAAAAAAAAAAAAAAAAA.1"));
  const release = await lockWorkDir(used.path);
  const told: string[] = [];
  const log = {
    info: (_: unknown, text?: string) => void told.push(text ?? ""),
    warn: (_: unknown, text?: string) => void told.push(text ?? ""),
  };

  await removeOrphans(own, log);
  assert.deepEqual(readdirSync(shelf).toSorted(), ["bare", "busy", "kept", "own", "used"]);
  assert.deepEqual(told.toSorted(), [
    "a work folder whose data directory is gone still holds tasks; it stays",
    "removed a work folder whose data directory is gone",
  ]);

  await release();
  await removeOrphans(own, log);
  assert.equal(existsSync(used.path), false);
});

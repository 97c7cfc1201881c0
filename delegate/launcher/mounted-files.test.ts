import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, createSignal, optionsFor, spawnDelegate, TOKEN } from "../testing/kit.ts";
import { inEtcOf, withOwnEtc } from "../testing/own-etc.ts";
import { startPretendServer } from "../testing/pretend-server.ts";

const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root: only then a file can be mounted" };

/** More than enough time for the launcher, which is told of the change. */
const ATTEMPTS = 2_000;

test("a running step keeps its user's name when a user is added to the machine", onlyAsRoot, async (t) => {
  const [place, server] = [createPlace(), await startPretendServer()];
  const etc = join(place.path, "etc");
  mkdirSync(etc);
  const { child, kill } = spawnDelegate([...optionsFor(server, place), "--token", TOKEN], {}, withOwnEtc(etc));
  t.after(async () => {
    await kill();
    await server.close();
    place.remove();
  });
  await server.welcomed();
  const task = server.run({
    script: `id -un; id -gn; echo ready; until [ -e added ]; do sleep 0.01; done
for ((n = 0; n < ${ATTEMPTS}; n += 1)); do id -un && id -gn && break; done 2>/dev/null`,
  });
  await task.printed("ready");
  assert.ok(child.pid !== undefined);
  execFileSync("/usr/bin/nsenter", [...inEtcOf(child.pid), "useradd", "--no-log-init", "newcomer"]);
  createSignal(place, task, "added");
  await task.finished;
  const [user = "", group, , ...after] = task.output().toString().split("\n");
  assert.match(user, /^railhead-step-\d+$/);
  assert.deepEqual(after, [user, group, ""]);
});

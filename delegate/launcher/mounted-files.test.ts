import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createPlace, createSignal, optionsFor, type Place, spawnDelegate, TOKEN } from "../testing/kit.ts";
import { inEtcOf, withOwnEtc } from "../testing/own-etc.ts";
import { startPretendServer } from "../testing/pretend-server.ts";

const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root: only then a file can be mounted" };

/** More than enough time for the launcher, which is told of the change. */
const ATTEMPTS = 2_000;

/** A delegate with an /etc of its own. `within`: the end of a command that starts it. */
async function start(t: TestContext, within: (place: Place) => readonly string[] = () => []) {
  const [place, server] = [createPlace(), await startPretendServer()];
  const etc = join(place.path, "etc");
  mkdirSync(etc);
  const options = [...optionsFor(server, place), "--token", TOKEN];
  const { child, kill } = spawnDelegate(options, {}, [...withOwnEtc(etc), ...within(place)]);
  t.after(async () => {
    await kill();
    await server.close();
    place.remove();
  });
  await server.welcomed();
  return { place, server, child };
}

test("a running step keeps its user's name when a user is added to the machine", onlyAsRoot, async (t) => {
  const { place, server, child } = await start(t);
  const task = server.run({
    script: `id -un; id -gn; echo ready; until [ -e added ]; do sleep 0.01; done
for ((n = 0; n < ${ATTEMPTS}; n += 1)); do user=$(id -un) && group=$(id -gn) && break; done 2>/dev/null
echo "$user"; echo "$group"`,
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

/** Arguments: a file, and the program. */
const WITH_MOUNTED_USERS = `cp /etc/passwd "$1"; mount --bind "$1" /etc/passwd; shift; exec "$@"`;

test(
  "steps run without a name where the machine's file is a mount whose source was replaced",
  onlyAsRoot,
  async (t) => {
    const fileOf = (place: Place): string => join(place.path, "machine-users");
    const { place, server } = await start(t, (of) => ["/bin/sh", "-ec", WITH_MOUNTED_USERS, "sh", fileOf(of)]);
    const before = server.run({ script: "id -un" });
    assert.deepEqual((await before.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    copyFileSync(fileOf(place), `${fileOf(place)}.new`);
    renameSync(`${fileOf(place)}.new`, fileOf(place));
    const after = server.run({ script: "id -un 2>&1; echo ran" });
    assert.deepEqual((await after.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.match(after.output().toString(), /cannot find name for user ID \d+\n.*ran\n$/s);
  },
);

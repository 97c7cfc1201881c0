import assert from "node:assert/strict";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDelegate } from "./delegate.ts";
import { joinServer, makePlace, QUICK, settingsFor, silentLog } from "./testing/harness.ts";
import { startPretendServer } from "./testing/pretend-server.ts";
import { systemTimers } from "./timers.ts";

const around = { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() };
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "run the tests as root: sudo npm test -- delegate/root.test.ts",
};

test(
  "started as root, steps are nobody, and cannot read the identity, the journal or one another",
  onlyAsRoot,
  async () => {
    const place = makePlace();
    const server = await startPretendServer();
    const delegate = await joinServer(server, place);
    const other = server.run({
      script: "echo secret >file; echo pid=$$; echo home=$HOME; sleep inf",
      env: [{ name: "SECRET", value: "s" }],
    });
    await other.printed("home=");
    const [, pid = "", home = ""] = /^pid=(.*)\nhome=(.*)$/m.exec(other.output().toString()) ?? [];
    const attempts = [
      `cat "${place.path}/identity"`,
      `ls "${place.path}"`,
      `ls "${place.path}/tasks"`,
      `ls "${home}"`,
      `cat "${home}/file"`,
      `cat "${home}/../script.sh"`,
      `cat /proc/${pid}/environ`,
      `ls /proc/${pid}/cwd/`,
      'cat "$HOME/../journal"',
      'cat "$HOME/../output"',
      'echo x >>"$HOME/../script.sh"',
      'echo x >"$HOME/../new"',
      'mv "$HOME" "$HOME/../moved"',
    ];
    const script = [
      "id -un",
      ...attempts.map((attempt) => `(${attempt}) 2>/dev/null && echo 'done: ${attempt}'`),
      "echo own >own && cat own",
      "mktemp >/dev/null && echo end",
    ];
    const task = server.run({ script: script.join("\n") });
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
    assert.equal(task.output().toString(), "nobody\nown\nend\n");
    server.send({ kind: "cancel", task: other.task, epoch: 1 });
    assert.deepEqual((await other.finished).outcome, { kind: "cancelled", survivors: 0 });
    await delegate.stop();
    await server.close();
    place.remove();
  },
);

test("a work folder that the step user cannot reach is refused, naming what is closed", onlyAsRoot, async () => {
  const place = makePlace();
  const server = await startPretendServer();
  const closed = join(place.path, "closed");
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(place.path, 0o755);
  const settings = settingsFor(server, place, { workDir: join(closed, "work") });
  await assert.rejects(
    startDelegate(settings, around),
    (error) => error instanceof Error && error.message.includes(`it cannot enter ${closed};`),
  );
  await server.close();
  place.remove();
});

test("an unknown step user is refused", onlyAsRoot, async () => {
  const place = makePlace();
  const server = await startPretendServer();
  await assert.rejects(
    startDelegate(settingsFor(server, place, { stepUser: "no-such-user" }), around),
    /no user 'no-such-user'/,
  );
  await server.close();
  place.remove();
});

/** A disk of the delegate that is full: a real small file system in memory. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ToServer } from "../protocol/messages.ts";
import { joinServer, makePlace } from "./testing/kit.ts";
import { startPretendServer } from "./testing/pretend-server.ts";

const MOUNT = "/bin/mount";
const UMOUNT = "/bin/umount";
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};

test(
  "a step whose log does not fit on the disk goes on, and fails with the full disk as the reason",
  onlyAsRoot,
  async (t) => {
    const place = makePlace();
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=16m,mode=755", "railhead-test", place.path]);
    t.after(() => {
      execFileSync(UMOUNT, ["-l", place.path]);
      place.remove();
    });
    chmodSync(place.path, 0o755);
    const server = await startPretendServer();
    const delegate = await joinServer(server, place);
    const script = `echo first; dd if=/dev/zero of=fill bs=64k 2>/dev/null; head -c 1000000 /dev/zero | tr '\\0' x; echo "status $?" >&2; echo important; exit 0`;
    const task = server.run({ script });
    assert.deepEqual((await task.finished).outcome, {
      kind: "refused",
      message: "The log of the step is incomplete: the delegate's disk is full (ENOSPC).",
    });
    assert.match(task.output().toString(), /^first\n/);
    await delegate.stop();
    await server.close();
  },
);

test(
  "a delegate short of space gives tasks back, says so, and takes them again once there is space",
  onlyAsRoot,
  async (t) => {
    const place = makePlace();
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=16m,mode=755", "railhead-test", place.path]);
    t.after(() => {
      execFileSync(UMOUNT, ["-l", place.path]);
      place.remove();
    });
    const server = await startPretendServer();
    const delegate = await joinServer(server, place);
    const fill = join(place.path, "fill");
    writeFileSync(fill, Buffer.alloc(15.9 * 1024 * 1024));
    const messages: ToServer[] = [];
    const said = server.next((message) => {
      messages.push(message);
      return message.kind === "returned";
    });
    const { task } = server.run({ script: "echo here" });
    const returned = await said;
    assert.ok(returned.kind === "returned" && returned.task === task);
    assert.match(
      returned.reason,
      /^The delegate is short of disk space: \d+ KiB are free in .*, and 819 KiB are needed\.$/,
    );
    // Before the task comes back the server knows that there is no use in sending it again.
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ["heartbeat", "returned"],
    );
    assert.match(JSON.stringify(messages[0]), /is short of disk space/);
    assert.deepEqual(place.tasks(), []);
    const recovered = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
    rmSync(fill);
    await recovered;
    const again = server.run({ script: "echo here" });
    await again.finished;
    assert.equal(again.output().toString(), "here\n");
    await delegate.stop();
    await server.close();
  },
);

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createPlace } from "../testing/kit.ts";
import { copyOutput } from "./copy.ts";

const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};
const PAGE = 4096;
const BUFFER = 64 * 1024;

/** A copy from a new pipe, to which the script writes in the background. */
function copyScript(t: TestContext, script: string, maxReads?: number) {
  const place = createPlace();
  t.after(place.remove);
  const [pipe, file] = [join(place.path, "pipe"), join(place.path, "output")];
  execFileSync("/usr/bin/mkfifo", [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, "w");
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const copy = copyOutput(
    { pipe: reader, maxReads },
    { file, maxStepOutput: 1e9 },
    { cut: assert.fail, ended: resolve },
  );
  const child = spawn("bash", ["-c", script], { stdio: ["ignore", writer, "inherit"] });
  closeSync(writer);
  t.after(() => {
    child.kill("SIGKILL");
    copy.close();
  });
  return {
    copy,
    ended,
    exited: once(child, "exit"),
    size: () => statSync(file, { throwIfNoEntry: false })?.size ?? 0,
    read: () => readFileSync(file),
  };
}

test("processes that refill the pipe do not hold up the launcher: one call reads what a pipe can hold", async (t) => {
  const { copy, exited, size } = copyScript(t, "for i in {1..20}; do yes & done; wait", 3);
  // Nothing but the calls reads the pipe meanwhile.
  for (let before = 0; before < 200 * BUFFER; before = size()) {
    assert.equal(copy.drain(), false);
    assert.ok(size() - before <= 3 * BUFFER, `one call has read ${size() - before} bytes`);
  }
  const before = size();
  copy.close();
  assert.ok(size() - before <= 3 * BUFFER);
  // The next write of each has failed.
  await exited;
});

test("each byte is copied once and in order, also by calls that end before the pipe is empty", async (t) => {
  const { copy, ended, read } = copyScript(t, "for ((i = 0; i < 60000; i++)); do echo $i; done", 1);
  let isOver = false;
  void ended.then(() => (isOver = true));
  const drain = (): void => {
    if (isOver) return;
    copy.drain();
    setImmediate(drain);
  };
  drain();
  await ended;
  assert.equal(read().toString(), Array.from({ length: 60_000 }, (_, line) => `${line}\n`).join(""));
});

test("of the line about the limit a full disk leaves no part", onlyAsRoot, (t) => {
  const place = createPlace();
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${2 * PAGE}`, "railhead-test", place.path]);
  t.after(() => {
    execFileSync("/bin/umount", ["-l", place.path]);
    place.remove();
  });
  const [pipe, file] = [join(place.path, "pipe"), join(place.path, "output")];
  execFileSync("/usr/bin/mkfifo", [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, "w");
  const cuts: string[] = [];
  const line = `${"x".repeat(PAGE - 11)}\n`;
  const copy = copyOutput(
    { pipe: reader },
    { file, maxStepOutput: line.length },
    { cut: (code) => cuts.push(code), ended: () => {} },
  );
  writeSync(writer, line);
  copy.drain();
  writeFileSync(join(place.path, "others"), Buffer.alloc(PAGE));
  writeSync(writer, "more\n");
  copy.drain();
  closeSync(writer);
  copy.close();
  assert.deepEqual(cuts, ["ENOSPC"]);
  assert.equal(readFileSync(file, "utf8"), line);
});

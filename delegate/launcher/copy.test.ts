import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace } from "../testing/kit.ts";
import { copyOutput } from "./copy.ts";

const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};
const PAGE = 4096;

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
  const text = `${"x".repeat(PAGE - 11)}\n`;
  const copy = copyOutput(reader, { file, maxBytes: text.length }, { cut: (code) => cuts.push(code), ended: () => {} });
  writeSync(writer, text);
  copy.drain();
  writeFileSync(join(place.path, "others"), Buffer.alloc(PAGE));
  writeSync(writer, "more\n");
  copy.drain();
  closeSync(writer);
  copy.close();
  assert.deepEqual(cuts, ["ENOSPC"]);
  assert.equal(readFileSync(file, "utf8"), text);
});

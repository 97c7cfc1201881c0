import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { NOTE, writeNote } from "./runtime-folder/note.ts";
import { appendToFile, openForWriting, readLimitedFile, replaceFile, truncateFile } from "./regular-file.ts";
import type { Meta } from "./task-folder/journal.ts";
import { paths } from "./task-folder/paths.ts";
import { outcomeOf } from "./tasks/outcome.ts";
import { createPlace, silentLog } from "./testing/kit.ts";
import { MAX_OUTPUTS } from "../protocol/messages.ts";
import { createMasking } from "./output/masking.ts";
import { writeOwnerNote } from "./work-folder/orphaned-folders.ts";
import { prepareWorkDir } from "./work-folder/work-dir.ts";

function scene(t: TestContext) {
  const place = createPlace();
  t.after(place.remove);
  const at = (name: string): string => join(place.path, name);
  writeFileSync(at("else"), "content");
  return { at, path: place.path, makePipe: (name: string) => execFileSync("/usr/bin/mkfifo", [at(name)]) };
}

test("a pipe, a link or a folder in place of a file is neither waited for nor followed", (t) => {
  const { at, makePipe } = scene(t);
  const makers = [() => makePipe("file"), () => symlinkSync("else", at("file")), () => mkdirSync(at("file"))];
  for (const make of makers) {
    make();
    assert.throws(() => appendToFile(at("file"), Buffer.from("more")));
    truncateFile(at("file"), 0);
    assert.throws(() => openForWriting(at("file"), constants.O_WRONLY));
    assert.equal(readLimitedFile(at("file"), 100), undefined);
    rmSync(at("file"), { recursive: true });
  }
  assert.equal(readFileSync(at("else"), "utf8"), "content");
  makePipe("file");
  const reader = openSync(at("file"), constants.O_RDONLY | constants.O_NONBLOCK);
  assert.throws(() => appendToFile(at("file"), Buffer.from("more")), /is no regular file/);
  closeSync(reader);
});

test("what stands in place of a file, with whatever content, does not prevent its replacement", (t) => {
  const { at, path, makePipe } = scene(t);
  const makers = [
    () => makePipe(NOTE),
    () => symlinkSync("else", at(NOTE)),
    () => mkdirSync(join(at(NOTE), "in"), { recursive: true }),
  ];
  for (const make of makers) {
    rmSync(at(NOTE), { force: true });
    make();
    writeNote(path, "text");
    assert.equal(readFileSync(at(NOTE), "utf8"), "text");
  }
  // The folder that was moved aside.
  assert.equal(readdirSync(path).filter((name) => name.startsWith(`${NOTE}.`)).length, 1);
  assert.equal(readFileSync(at("else"), "utf8"), "content");
  assert.throws(() => replaceFile(join(path, "missing", "file"), "text"), { code: "ENOENT" });
});

test("a work folder gets the note of its owner although a pipe stands in its place", (t) => {
  const { at, path, makePipe } = scene(t);
  const workDir = prepareWorkDir(path, false);
  makePipe("owner");
  writeOwnerNote(workDir, "/data");
  assert.equal(readFileSync(at("owner"), "utf8"), "/data\n");
});

test("output variables that are too large fail a step that has replaced its output by a pipe", (t) => {
  const { at, path, makePipe } = scene(t);
  makePipe("output");
  assert.equal(paths(path).output, at("output"));
  writeFileSync(at("outputs"), `X=${"x".repeat(MAX_OUTPUTS + 1)}\0\0`);
  const meta: Meta = {
    ...{ task: "t", epoch: 1, cookie: "a cookie of sixteen", receivedAt: 0, bootId: "b", owner: null },
    ...{ ending: "search" as const, outputs: [{ name: "x", variable: "X" }] },
  };
  const task = { folder: path, outputs: at("outputs"), lease: { task: "t", epoch: 1 }, meta };
  const stepMask = createMasking().createStepMask("none");
  const outcome = outcomeOf(task, { code: 0, copied: true }, { stepMask, log: silentLog() });
  assert.deepEqual(outcome, { kind: "exited", exitCode: 1, outputs: [] });
});

test("a file is extended and shortened, and a missing one is made only to be extended", (t) => {
  const { at } = scene(t);
  truncateFile(at("file"), 0);
  assert.throws(() => readFileSync(at("file")), { code: "ENOENT" });
  appendToFile(at("file"), Buffer.from("one "));
  appendToFile(at("file"), Buffer.from("two"));
  assert.equal(readFileSync(at("file"), "utf8"), "one two");
  truncateFile(at("file"), 3);
  assert.equal(readFileSync(at("file"), "utf8"), "one");
});

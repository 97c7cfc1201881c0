import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openMaskedFile } from "../output/masked-file.ts";
import { readSlice } from "../output/slice.ts";
import { NOTE, readNote } from "../runtime-folder/note.ts";
import { createPlace } from "../testing/kit.ts";
import { paths } from "./paths.ts";
import { formatHead, type Meta, parseJournal, readJournal, recordCancelled } from "./journal.ts";

const meta: Meta = {
  task: "t".repeat(22),
  epoch: 3,
  cookie: "c".repeat(32),
  receivedAt: 1,
  bootId: "b",
  owner: { uid: 65534, gid: 7, ownUser: false },
  ending: "search",
  outputs: [{ name: "x", variable: "X" }],
};
const head = formatHead(meta);

test("a journal grows line by line", () => {
  assert.deepEqual(parseJournal(head), {
    meta,
    launcher: undefined,
    leader: undefined,
    exit: undefined,
    cut: undefined,
    isCancelled: false,
    isUnstarted: false,
  });
  const begun = `${head}launcher 7 123456789012\npid 42 99\n`;
  assert.deepEqual(parseJournal(begun).launcher, { pid: 7, startTime: "123456789012" });
  assert.deepEqual(parseJournal(begun).leader, { pid: 42, startTime: "99" });
  assert.deepEqual(parseJournal(`${begun}exit 143\n`).exit, {
    code: 143,
    copied: false,
    cut: undefined,
    elapsed: undefined,
  });
  assert.deepEqual(parseJournal(`${begun}exit 0 98765\ncopied 0\n`).exit, {
    code: 0,
    copied: true,
    cut: undefined,
    elapsed: 98765,
  });
  assert.equal(parseJournal(`${begun}cut ENOSPC\nexit 0\n`).exit?.cut, "ENOSPC");
  assert.equal(parseJournal(`${begun}cancelled\nexit 143\n`).isCancelled, true);
  assert.equal(parseJournal(`${head}unstarted\n`).isUnstarted, true);
  // The first one died before it had claimed the task.
  assert.equal(parseJournal(`${head}launcher 6 5\n${begun.slice(head.length)}`).launcher?.pid, 7);
});

test("a line without its newline is not read yet", () => {
  assert.equal(parseJournal(`${head}pid 42 1\nexit 1`).exit, undefined);
  assert.equal(parseJournal(`${head}pid 4`).leader, undefined);
  assert.equal(parseJournal(head.slice(0, -1)).meta, undefined);
});

test("a word that a full disk has cut off is not read, and neither spoils nor changes the next one", (t) => {
  const place = createPlace();
  t.after(place.remove);
  const path = join(place.path, "journal");
  const words = "exit 137 98765\n";
  for (let length = 0; length <= words.length; length += 1) {
    writeFileSync(path, `${head}${words.slice(0, length)}`);
    recordCancelled(place.path);
    // A part that ends before a space has no whole code, as in `exit 1`.
    const code = length > "exit 137".length ? 137 : undefined;
    assert.equal(readJournal(place.path).exit?.code, code, `${length} bytes`);
    assert.equal(readJournal(place.path).isCancelled, true, `${length} bytes`);
    assert.equal(readJournal(place.path, words).exit?.elapsed, 98_765, `${length} bytes`);
  }
});

test("a pipe or a link in place of a file of the task is not waited for, and counts as missing", (t) => {
  const place = createPlace();
  t.after(place.remove);
  const at = paths(place.path);
  writeFileSync(join(place.path, "elsewhere"), `${head}exit 0 1\n`);
  const makers = [
    (path: string) => execFileSync("/usr/bin/mkfifo", [path]),
    (path: string) => symlinkSync("elsewhere", path),
    (path: string) => mkdirSync(path),
  ];
  for (const make of makers) {
    for (const path of [at.journal, at.output, at.maskedTo, join(place.path, NOTE)]) make(path);
    assert.equal(readJournal(place.path).exit, undefined);
    assert.equal(readJournal(place.path, "exit 3 1\n").exit?.code, 3);
    assert.equal(readSlice(at.output, 0).available, 0);
    assert.equal(openMaskedFile(place.path).consumed(), 0);
    assert.equal(readNote(place.path), undefined);
    assert.throws(() => recordCancelled(place.path));
    for (const path of [at.journal, at.output, at.maskedTo, join(place.path, NOTE)]) rmSync(path, { recursive: true });
  }
});

test("a damaged journal is known as one", () => {
  for (const text of ["", "\n", "{}\n", "[1\n", `${head.slice(5)}pid 1\n`])
    assert.equal(parseJournal(text).meta, undefined);
  assert.equal(parseJournal(`${head}pid x y\nexit -1\n`).exit, undefined);
});

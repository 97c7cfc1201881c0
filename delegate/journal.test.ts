import assert from "node:assert/strict";
import { test } from "node:test";
import { journalHead, type Meta, parseJournal } from "./journal.ts";

const meta: Meta = {
  task: "t".repeat(22),
  epoch: 3,
  cookie: "c".repeat(32),
  receivedAt: 1,
  bootId: "b",
  owner: { uid: 65534, gid: 7, ownUser: false },
  outputs: [{ name: "x", variable: "X" }],
};
const head = journalHead(meta);

test("a journal grows line by line", () => {
  assert.deepEqual(parseJournal(head), { meta, pid: undefined, exit: undefined, isCancelled: false });
  assert.equal(parseJournal(`${head}pid 42\n`).pid, 42);
  assert.deepEqual(parseJournal(`${head}pid 42\nexit 143\n`).exit, { code: 143, copied: false });
  assert.deepEqual(parseJournal(`${head}pid 42\nexit 0\ncopied 0\n`).exit, { code: 0, copied: true });
  assert.equal(parseJournal(`${head}pid 42\ncancelled\nexit 143\n`).isCancelled, true);
});

test("a line without its newline is not read yet", () => {
  assert.equal(parseJournal(`${head}pid 42\nexit 1`).exit, undefined);
  assert.equal(parseJournal(`${head}pid 4`).pid, undefined);
  assert.equal(parseJournal(head.slice(0, -1)).meta, undefined);
});

test("a damaged journal is known as one", () => {
  for (const text of ["", "\n", "{}\n", "[1\n", `${head.slice(5)}pid 1\n`])
    assert.equal(parseJournal(text).meta, undefined);
  assert.equal(parseJournal(`${head}pid x\nexit -1\n`).exit, undefined);
});

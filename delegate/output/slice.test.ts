import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { MAX_CHUNK } from "../../protocol/messages.ts";
import { sendableLength, readSlice, wholeCharactersLength } from "./slice.ts";

test("a cut never splits a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.nat(), (text, at) => {
      const bytes = Buffer.from(text);
      const part = bytes.subarray(0, at % (bytes.length + 1));
      const kept = part.subarray(0, wholeCharactersLength(part));
      assert.ok(text.toWellFormed().startsWith(kept.toString()));
      assert.ok(part.length - kept.length <= 3);
    }),
  );
});

test("bytes that are no text are sent as they are, three at most wait for more", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => wholeCharactersLength(Buffer.from(bytes)) >= bytes.length - 3));
  assert.equal(wholeCharactersLength(Buffer.from([0x80, 0x80, 0x80, 0x80])), 4);
  assert.equal(wholeCharactersLength(Buffer.from([0x61, 0xe2, 0x82])), 1);
  assert.equal(wholeCharactersLength(Buffer.from([0xe2, 0x82, 0xac])), 3);
  assert.equal(wholeCharactersLength(Buffer.from([0xff])), 1);
});

test("a full message ends with a line where there is one; the end of the file is not held back", () => {
  const bytes = Buffer.from("one\ntwo\nthr");
  assert.equal(sendableLength({ bytes, available: 100 }), 8);
  assert.equal(sendableLength({ bytes, available: bytes.length }), bytes.length);
  assert.equal(sendableLength({ bytes: Buffer.from("no line"), available: 100 }), 7);
});

test("a slice begins at the offset and is bounded", () => {
  const folder = mkdtempSync(join(tmpdir(), "railhead-tail-"));
  const path = join(folder, "output");
  assert.equal(readSlice(path, 0).available, 0);
  writeFileSync(path, Buffer.alloc(MAX_CHUNK + 10, "x"));
  assert.deepEqual([readSlice(path, 4).bytes.length, readSlice(path, 4).available], [MAX_CHUNK, MAX_CHUNK + 6]);
  assert.equal(readSlice(path, MAX_CHUNK + 8).bytes.toString(), "xx");
  assert.equal(readSlice(path, MAX_CHUNK + 99).available, 0);
  rmSync(folder, { recursive: true });
});

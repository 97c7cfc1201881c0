import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { CHUNK, chunkCount, contentOf, newDataKey, openChunk, sealChunks, type Content } from "./chunks.ts";

const key = newDataKey();
const identity = "secret:a:b:c";

/** The bytes in pages of odd sizes, as a network brings them. */
function paged(bytes: Buffer, ...sizes: readonly number[]): Content {
  const pages: Buffer[] = [];
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const size = sizes[nth % sizes.length] ?? bytes.length;
    pages.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return { size: bytes.length, pages };
}

/** Copies, for each piece is gone when the next one is made. */
const sealedWhole = (content: Content): Buffer[] => [
  ...sealChunks(key, identity, content).map((piece) => Buffer.from(piece)),
];

const opened = (sealed: readonly Buffer[], by = key, as = identity): Buffer =>
  Buffer.concat(sealed.map((piece, nth) => openChunk(by, { identity: as, nth, count: sealed.length }, piece)));

test("what was sealed opens again, however long and however it arrived", () => {
  for (const size of [0, 1, 16, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7]) {
    const bytes = randomBytes(size);
    for (const content of [paged(bytes, size || 1), paged(bytes, 1_000, 70_001, 3)]) {
      const sealed = sealedWhole(content);
      assert.equal(sealed.length, chunkCount(size), `${size} bytes`);
      assert.ok(opened(sealed).equals(bytes), `${size} bytes`);
    }
  }
  assert.equal(opened(sealedWhole(contentOf("pässword"))).toString(), "pässword");
});

test("a piece opens at its own place only", () => {
  const sealed = sealedWhole(paged(randomBytes(3 * CHUNK), CHUNK)) as [Buffer, Buffer, Buffer];
  const [first, second, third] = sealed;
  assert.throws(() => opened([second, first, third]), /authenticate/, "swapped");
  assert.throws(() => opened([first, third]), /authenticate/, "one left out");
  assert.throws(() => opened([first, second]), /authenticate/, "cut off");
  assert.throws(() => opened([first, second, third, third]), /authenticate/, "one too many");
  assert.throws(() => opened(sealed, key, "secret:a:b:d"), /authenticate/, "another record");
  assert.throws(() => opened(sealed, newDataKey()), /authenticate/, "another key");
});

test("a changed byte anywhere is noticed", () => {
  const [sealed] = sealedWhole(contentOf("top secret")) as [Buffer];
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => opened([changed]), `byte ${at}`);
  }
  for (const cut of [0, 1, 16, sealed.length - 1])
    assert.throws(() => opened([sealed.subarray(0, cut)]), `${cut} bytes`);
});

test("the plain text is not in what was sealed", () => {
  const bytes = Buffer.alloc(2 * CHUNK, "abcdefgh");
  for (const sealed of sealChunks(key, identity, paged(bytes, 65_536))) assert.equal(sealed.indexOf("abcdefgh"), -1);
});

test("a sealed piece is gone when the next one is made, and the last one when all are taken", () => {
  const pieces: Buffer[] = [];
  for (const sealed of sealChunks(key, identity, paged(randomBytes(3 * CHUNK), CHUNK))) {
    assert.ok(sealed.length > 0);
    assert.ok(pieces.every(({ length }) => length === 0));
    pieces.push(sealed);
  }
  assert.equal(pieces.length, 3);
  assert.ok(pieces.every(({ length }) => length === 0));
});

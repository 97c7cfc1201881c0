/** What a step can make the masker keep back, by printing the beginning of a secret and then no more of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createByteQueue } from "./byte-queue.ts";
import { MAX_GAP } from "./letters.ts";
import { MASK } from "./marks.ts";
import { createMasker, MAX_PENDING, type Masker } from "./masker.ts";
import { createMatcher } from "./matcher.ts";

const PIECE = 64 * 1024;
const PIECES = 128;
const SECRET = "correct-horse-battery-staple-42";
const BEGINNING = SECRET.slice(0, 20);
/** A dump of the beginning: `xxd -g1` of it without its text column. */
const DUMPED = `00000000: ${[...Buffer.from(BEGINNING.slice(0, 16))].map((byte) => byte.toString(16)).join(" ")}\n`;

const maskerOf = (value: string, exactBytes?: number): Masker =>
  createMasker(createMatcher([Buffer.from(value)], exactBytes));
const through = (masker: Masker, pieces: readonly Buffer[]): string =>
  Buffer.concat([...pieces.map(masker.push), masker.end()]).toString("latin1");

const FILLS: Readonly<Record<string, readonly [beginning: string, fill: string]>> = {
  "NUL bytes": [BEGINNING, "\0"],
  "ends of colours": [BEGINNING, "\x1b[0m"],
  "erasures of the line": [BEGINNING, "\x1b[K"],
  "colours, NUL bytes and single line breaks": [BEGINNING, "\x1b[0m\0\n\0\n"],
  "a control sequence that never ends": [`${BEGINNING}\x1b[`, "0;1;2;3;"],
  "line breaks": [BEGINNING, "\r\n"],
  "a dump of NUL bytes": [DUMPED, `00000010: ${"00 ".repeat(16)}\n`],
  "lines that stand for repeated lines of a dump": [DUMPED, "*\n"],
  "blank lines after a dump": [DUMPED, "    \n"],
};

for (const [how, exactBytes] of [
  ["the automaton", undefined],
  ["fingerprints", 0],
] as const)
  for (const [name, [beginning, fill]] of Object.entries(FILLS))
    test(`after the beginning of a secret, 8 MiB of ${name} go out as they come; ${how}`, () => {
      const masker = maskerOf(SECRET, exactBytes);
      let out = masker.push(Buffer.from(beginning)).length;
      for (let nth = 1; nth <= PIECES; nth += 1) {
        out += masker.push(Buffer.alloc(PIECE, fill)).length;
        assert.ok(masker.pending() <= 8 * 1024, `${masker.pending()} bytes wait after ${nth} pieces`);
        // The beginning itself may be masked: it is a block of a fingerprint.
        assert.ok(out + masker.pending() >= nth * PIECE, `${out} bytes went out after ${nth} pieces`);
      }
      // What comes afterwards is searched as ever.
      const rest = Buffer.concat([masker.push(Buffer.from(`\n\n\n<${SECRET}>\n`)), masker.end()]);
      assert.ok(rest.toString("latin1").endsWith(`<${MASK}>\n`), rest.toString("latin1", rest.length - 100));
      assert.equal(masker.pending(), 0);
    });

test("property: between two letters 64 bytes may stand, of what is passed over, and no more; however it is cut", () => {
  const passed = fc.array(fc.constantFrom("\0", "\x1b[m", "\x1b[01;31m", "\x1b[K", "\x1b[38;2;255;255;255m"));
  const places = fc.array(fc.nat(), { maxLength: 12 });
  fc.assert(
    fc.property(passed, fc.integer({ min: 1, max: SECRET.length - 1 }), places, (some, at, cuts) => {
      const between = some.join("");
      const output = Buffer.from(`<${SECRET.slice(0, at)}${between}${SECRET.slice(at)}>`);
      const sorted = [...new Set(cuts.map((place) => place % output.length))].toSorted((a, b) => a - b);
      const pieces = [0, ...sorted].map((start, nth) => output.subarray(start, sorted[nth]));
      const shown = through(maskerOf(SECRET), pieces);
      assert.equal(shown, between.length <= MAX_GAP ? `<${MASK}>` : output.toString("latin1"));
    }),
    { numRuns: 500 },
  );
});

test("what the secret itself has between two letters is passed over as well, also in UTF-16", () => {
  const value = `first${"\0".repeat(300)}second${"\x1b[1m".repeat(100)}third`;
  for (const exactBytes of [undefined, 0]) {
    assert.equal(through(maskerOf(value, exactBytes), [Buffer.from(`<${value}>`)]), `<${MASK}>`);
    const wide = Buffer.from("<first\0\0\0second>".replace("\0\0\0", "\0".repeat(300)), "utf16le");
    const shown = through(maskerOf(`first${"\0".repeat(300)}second`, exactBytes), [wide]);
    assert.equal(shown.replaceAll("\0", ""), `<${MASK}>`);
  }
});

test("of a long secret with much between its letters at most 1 MiB waits, and what is more is masked once", () => {
  const value = Array.from({ length: 4_000 }, (_, nth) => String(nth * 7919)).join("x");
  assert.ok(value.length * MAX_GAP > 1.5 * MAX_PENDING);
  const spread = Buffer.from([...value].join("\0".repeat(MAX_GAP)));
  const masker = maskerOf(value);
  const out = [masker.push(Buffer.from("<"))];
  for (let from = 0; from < spread.length; from += PIECE) {
    out.push(masker.push(spread.subarray(from, from + PIECE)));
    assert.ok(masker.pending() <= MAX_PENDING, `${masker.pending()} bytes wait`);
  }
  out.push(masker.push(Buffer.from(">")), masker.end());
  assert.equal(Buffer.concat(out).toString("latin1"), `<${MASK}>`);
});

test("property: what is held comes out in order, in any portions", () => {
  const step = fc.record({
    bytes: fc.uint8Array({ maxLength: 40 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const held = createByteQueue();
      let model = Buffer.alloc(0);
      for (const { bytes, share } of steps) {
        held.add(Buffer.from(bytes));
        model = Buffer.concat([model, bytes]);
        const count = Math.floor(share * held.length());
        assert.deepEqual(held.take(count), model.subarray(0, count));
        model = model.subarray(count);
        assert.equal(held.length(), model.length);
      }
    }),
  );
});

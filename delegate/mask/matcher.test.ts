/** Large secrets: what they cost, and what of them is found. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import fc from "fast-check";
import { BLOCK } from "./fingerprints.ts";
import { MASK } from "./marks.ts";
import { createMasker } from "./masker.ts";
import { type Matcher, createMatcherAsync, createMatcher } from "./matcher.ts";

const MIB = 1024 * 1024;

function through(matcher: Matcher, output: Buffer, at: readonly number[] = []): string {
  const masker = createMasker(matcher);
  const places = [...new Set(at.map((place) => place % (output.length + 1)))].toSorted((a, b) => a - b);
  const pieces = [0, ...places].map((start, nth) => output.subarray(start, places[nth]));
  return Buffer.concat([...pieces.map(masker.push), masker.end()]).toString("latin1");
}

/** Bytes that look random and are the same each time. */
function noise(bytes: number, seed: string): Buffer {
  const parts = Array.from({ length: Math.ceil(bytes / 64) }, (_, nth) =>
    createHash("sha512").update(`${seed} ${nth}`).digest(),
  );
  return Buffer.concat(parts).subarray(0, bytes);
}

const inLines = (text: string, width: number): string => text.replaceAll(new RegExp(`.{${width}}`, "g"), "$&\n");

const KINDS: Readonly<Record<string, (seed: string) => Buffer>> = {
  "one line": (seed) => Buffer.from(noise(48 * 1024, seed).toString("base64")),
  "lines of 64": (seed) => Buffer.from(inLines(noise(48 * 1024, seed).toString("base64"), 64).slice(0, 64 * 1024)),
  bytes: (seed) => noise(64 * 1024, seed),
};

const sizeOf = ({ automaton, fingerprints }: Matcher): number =>
  (fingerprints?.bytes() ?? 0) +
  Object.values(automaton).reduce<number>((sum, part) => sum + (typeof part === "number" ? 0 : part.byteLength), 0);

for (const [kind, make] of Object.entries(KINDS))
  test(`80 secrets of 64 KiB, ${kind}: tens of MB, and other work goes on meanwhile`, async () => {
    const values = Array.from({ length: 80 }, (_, nth) => make(String(nth)));
    let turns = 0;
    let isDone = false;
    const other = (async () => {
      for (; !isDone; turns += 1) await setImmediate();
    })();
    const matcher = await createMatcherAsync(values);
    isDone = true;
    await other;
    assert.ok(sizeOf(matcher) < 100 * MIB, `${sizeOf(matcher)} bytes`);
    assert.ok(turns > 500, `${turns} turns of the event loop`);
    const value = values[47] ?? assert.fail();
    const shown = (output: Buffer | string): string =>
      through(matcher, Buffer.from(output), [7, 1_000, 70_000])
        .replaceAll(MASK, "")
        .replaceAll(/[\0\r\n]/g, "");
    assert.equal(shown(value), "");
    assert.equal(shown(value.toString("hex")).replaceAll("0a", ""), "");
    if (kind !== "lines of 64") assert.ok(shown(inLines(value.toString("base64"), 76)).length < 4);
  });

const letter = fc.constantFrom(..."abcXYZ019 '\"\\/+=&?%$<>-_|€");
const line = fc
  .array(letter, { minLength: 6, maxLength: 50 })
  .map((all) => all.join(""))
  .filter((text) => text.trim() === text && text.length >= 6);
const cuts = fc.array(fc.nat(), { maxLength: 12 });

test("property: by fingerprints alone, each line of a value is found in every encoding, cut anywhere", () => {
  const encodings: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => Buffer.from(text).toString("hex"),
    (text) => encodeURIComponent(text),
    (text) => JSON.stringify(text).slice(1, -1),
    (text) => text.replaceAll(/.{5}/g, "$&\r\n"),
  ];
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...encodings),
      cuts,
      (lines, encode, at) => {
        const matcher = createMatcher([Buffer.from(lines.join("\n"))], 0);
        for (const text of lines) {
          const output = Buffer.from(`\v${encode(text)}\v`);
          const shown = through(matcher, output, at);
          assert.equal(shown.replaceAll(MASK, "").replaceAll(/[\r\n]/g, ""), "\v\v", shown);
          assert.equal(shown, through(matcher, output));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("property: of a part of a large value at most 15 letters show at either end", () => {
  const value = noise(30_000, "part").toString("base64");
  const matcher = createMatcher([Buffer.from(value)], 0);
  fc.assert(
    fc.property(
      fc.nat({ max: value.length - 400 }),
      fc.integer({ min: 2 * BLOCK - 1, max: 400 }),
      cuts,
      (from, length, at) => {
        const output = Buffer.from(value.slice(from, from + length));
        const [before = "", ...rest] = through(matcher, output, at).split(MASK);
        assert.equal(rest.length, 1);
        assert.ok(before.length < BLOCK && (rest[0] ?? "").length < BLOCK, `${before} and ${rest[0]} show`);
      },
    ),
    { numRuns: 300 },
  );
});

test("values that fit go to the automaton, the smallest first, and the others are found all the same", () => {
  const small = Buffer.from("hunter2 and more");
  const large = Buffer.from(noise(3_000, "large").toString("base64"));
  const matcher = createMatcher([large, small], 200_000);
  assert.ok(matcher.fingerprints?.hasEntries());
  assert.ok(matcher.automaton.longest < 200);
  for (const value of [small, large])
    assert.equal(through(matcher, Buffer.concat([Buffer.from("<"), value])), `<${MASK}`);
  const waits = createMasker(matcher);
  assert.equal(waits.push(Buffer.from("x hunter2 and")).toString(), "");
  assert.equal(waits.release().toString(), "x ");
});

test("output without secrets comes through byte for byte, by fingerprints as well", () => {
  const matcher = createMatcher([noise(64 * 1024, "secret")], 0);
  const output = noise(MIB, "output");
  assert.equal(through(matcher, output, [1, 1_000, 500_000]), output.toString("latin1"));
});

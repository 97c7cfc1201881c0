/** Values that tools print as numbers: what `od`, `hexdump` and `xxd` really write, however it is cut. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { MASK } from "../marks.ts";
import { createMasker } from "../masker.ts";
import { createMatcher } from "../matcher.ts";

/** All that comes out when the pieces go in, one after the other; `EXACT` and no more than fingerprints. */
function through(value: Buffer, output: Buffer, at: readonly number[], exactBytes?: number): string {
  const masker = createMasker(createMatcher([value], exactBytes));
  const places = [...new Set(at.map((place) => place % (output.length + 1)))].toSorted((a, b) => a - b);
  const pieces = [0, ...places].map((start, nth) => output.subarray(start, places[nth]));
  return Buffer.concat([...pieces.map(masker.push), masker.end()]).toString("latin1");
}

const isThere = (tool: string): boolean => spawnSync(tool, ["--version"]).error === undefined;
const run = (command: readonly string[], input: Buffer): Buffer => {
  const [tool = "", ...args] = command;
  const { stdout, status, stderr } = spawnSync(tool, args, { input, env: { LC_ALL: "C", PATH: process.env["PATH"] } });
  assert.equal(status, 0, stderr.toString());
  return stdout;
};

/**
 * What stands for one byte, so that a byte that is left can be told: with the text around it, for any byte that occurs
 * nowhere else.
 */
type Tool = { readonly command: readonly string[]; readonly shows: (text: string) => string };

const bytesOf = (text: string): readonly string[] =>
  [...Buffer.from(text, "latin1")].map((byte) => byte.toString(16).padStart(2, "0"));

const TOOLS: readonly Tool[] = [
  { command: ["od", "-An", "-tx1"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["od", "-tx1"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["od", "-A", "x", "-t", "x1z"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["od", "-v"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["od", "-v", "-c"], shows: (text) => [...text].join("   ") },
  { command: ["od", "-v", "-An", "-c"], shows: (text) => [...text].join("   ") },
  { command: ["od", "-v", "-b"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["od", "-v", "-x"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["hexdump", "-v", "-C"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["hexdump", "-v"], shows: (text) => bytesOf(text).join(" ") },
  { command: ["hexdump", "-v", "-x"], shows: (text) => bytesOf(text).join(" ") },
  {
    command: ["bash", "-c", String.raw`od -v -An -tx1 | sed "s/ \(..\)/'0x\1', /g"`],
    shows: (text) => bytesOf(text).join("', '0x"),
  },
  { command: ["hexdump", "-v", "-c"], shows: (text) => [...text].join("   ") },
  { command: ["hexdump", "-v", "-e", '/1 "%02x:"'], shows: (text) => bytesOf(text).join(":") },
  { command: ["bash", "-c", String.raw`od -v -An -tx1 | sed 's/ /\\x/g'`], shows: (text) => bytesOf(text).join("\\x") },
  { command: ["xxd"], shows: (text) => bytesOf(text).join("") },
  { command: ["xxd", "-g1", "-u"], shows: (text) => bytesOf(text).join(" ").toUpperCase() },
  { command: ["xxd", "-i"], shows: (text) => bytesOf(text).join(", 0x") },
  { command: ["xxd", "-p"], shows: (text) => bytesOf(text).join("") },
];

/** Letters that the text around it does not have. */
const value = fc.string({
  unit: fc.constantFrom(..."GHJKLMNPQRSTVWXYZghjkmnpqrstvwxyz#%&@="),
  minLength: 6,
  maxLength: 60,
});
const around = fc.string({ unit: fc.constantFrom(..."abcdef \n.01"), maxLength: 50 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });

for (const { command, shows } of TOOLS) {
  const name = command.join(" ");
  const skip = isThere(command[0] ?? "") ? false : `this machine has no ${command[0]}`;
  for (const [how, exactBytes] of [
    ["found by the automaton", undefined],
    ["found by fingerprints", 0],
  ] as const)
    test(`property: ${name}: cut anywhere, nothing of the value is left; ${how}`, { skip }, () => {
      fc.assert(
        fc.property(value, around, around, cuts, (text, before, after, at) => {
          const printed = run(command, Buffer.from(`${before}${text}${after}`));
          const shown = through(Buffer.from(text), printed, at, exactBytes);
          assert.ok(shown.includes(MASK), `${printed.toString()}\nbecame\n${shown}`);
          for (let nth = 0; nth + 3 <= text.length; nth += 1)
            assert.ok(!shown.includes(shows(text.slice(nth, nth + 3))), `${text.slice(nth)} is left in\n${shown}`);
          assert.equal(shown, through(Buffer.from(text), printed, [], exactBytes), "it depends on how it was cut");
        }),
        { numRuns: 25 },
      );
    });
}

test("a value that begins in one line of hexdump -C and ends in another takes all of these lines with it", () => {
  const printed = run(["hexdump", "-C"], Buffer.from("0123456789 hunter2-and-more, and what comes after it"));
  const lines = printed.toString().split("\n");
  assert.equal(through(Buffer.from("hunter2-and-more"), printed, []), [MASK, ...lines.slice(2)].join("\n"));
});

test("bytes with colons between them are masked where they stand, and the text around them stays", () => {
  const output = Buffer.from(`SHA1 Fingerprint=AA:${bytesOf("hunter2!").join(":")}:0b done\n`);
  assert.equal(through(Buffer.from("hunter2!"), output, []), `SHA1 Fingerprint=AA:${MASK}:0b done\n`);
});

test("a dump without a value comes through byte for byte, and nothing of it waits for more than its line", () => {
  const input = Buffer.from(Array.from({ length: 5_000 }, (_, nth) => (nth * 7 + (nth >> 8)) & 255));
  for (const { command } of TOOLS.filter((tool) => isThere(tool.command[0] ?? ""))) {
    const printed = run(command, input);
    assert.equal(through(Buffer.from("hunter2"), printed, [100, 1_000, 1_001]), printed.toString("latin1"));
  }
  const masker = createMasker(createMatcher([Buffer.from("hunter2")]));
  assert.equal(masker.push(Buffer.from("00000000  61 62 63 64")).toString(), "");
  assert.equal(masker.push(Buffer.from(" 65\n10 20 30 4")).toString(), "00000000  61 62 63 64 65\n10 20 30 ");
  assert.equal(masker.release().toString(), "4");
});

test("a part of a dumped value that is printed slowly waits for the rest of it", () => {
  const masker = createMasker(createMatcher([Buffer.from("hunter2")]));
  assert.equal(masker.push(Buffer.from("a\n 68 75 6e 74")).toString(), "a\n ");
  assert.equal(masker.release().toString(), "");
  assert.equal(masker.push(Buffer.from(" 65 72 32\n")).toString(), `${MASK}\n`);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createMasking } from "./masking.ts";
import { MASK } from "../mask/marks.ts";

test("secrets above the limit of a task are refused, which names the limit", () => {
  const { findRefusal } = createMasking();
  const values = (count: number): readonly Buffer[] =>
    Array.from({ length: count }, () => Buffer.alloc(64 * 1024, "x"));
  assert.equal(findRefusal(values(96)), undefined);
  const refused = findRefusal(values(97));
  assert.equal(refused?.until, "never");
  assert.match(refused.message, /count 6208 KiB, and the limit is 6144 KiB/);
  assert.equal(findRefusal([Buffer.alloc(10 * 1024 * 1024)]), undefined);
});

test("the tasks of a delegate share a bound: the next one waits until memory is free, the only one never does", async () => {
  const masking = createMasking(10_000, 12_000);
  const secret = [Buffer.alloc(8_000, "secret ")];
  const first = masking.createStepMask(secret);
  assert.equal(masking.findRefusal([Buffer.alloc(4_000)]), undefined);
  assert.equal(masking.findRefusal(secret)?.until, "now");
  await first.ready;
  first.release();
  first.release();
  assert.equal(masking.findRefusal(secret), undefined);
  masking.createStepMask(secret);
  assert.equal(masking.findRefusal([Buffer.alloc(4_001)])?.until, "now");
});

test("before its masks are ready, and after their release, no text of a task is shown", async () => {
  // 1120 bytes: more than is made ready at once.
  const { maskText, containsSecret, ready, release } = createMasking().createStepMask([
    Buffer.from("correct horse\n".repeat(80)),
  ]);
  assert.equal(maskText("a correct horse"), "(withheld)");
  assert.equal(containsSecret("anything"), true);
  await ready;
  assert.equal(maskText("a correct horse"), `a ${MASK}`);
  assert.deepEqual([containsSecret("a correct horse"), containsSecret("anything")], [true, false]);
  assert.equal(containsSecret("63 6f 72 72 65 63 74 20 68 6f 72 73 65"), true);
  release();
  assert.equal(maskText("a correct horse"), "(withheld)");
});

test("the automata of a delegate's tasks share a bound: beyond it secrets are found by fingerprints alone", async () => {
  const { createStepMask } = createMasking();
  // Fingerprints mask a part of a value; an automaton masks whole values and lines only.
  const start = async () => {
    const value = randomBytes(24 * 1024).toString("base64");
    const { maskText, ready, release } = createStepMask([Buffer.from(value)]);
    await ready;
    assert.equal(maskText(value), MASK);
    return { hasAutomaton: !maskText(value.slice(1_000, 1_064)).includes(MASK), release };
  };
  const oneByOne: Awaited<ReturnType<typeof start>>[] = [];
  for (let nth = 0; nth < 16; nth += 1) oneByOne.push(await start());
  const together = (): Promise<typeof oneByOne> => Promise.all(Array.from({ length: 16 }, start));
  for (const { release } of oneByOne) release();
  for (const tasks of [oneByOne, await together()]) {
    assert.equal(tasks[0]?.hasAutomaton, true);
    assert.equal(tasks.at(-1)?.hasAutomaton, false);
    for (const { release } of tasks) release();
  }
  assert.equal((await start()).hasAutomaton, true);
});

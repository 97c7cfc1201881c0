import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createMasking } from "./masking.ts";
import { MASK } from "../mask/marks.ts";

test("secrets above the limit of a task are refused, which names the limit", () => {
  const { refusal } = createMasking();
  const values = (count: number): readonly Buffer[] =>
    Array.from({ length: count }, () => Buffer.alloc(64 * 1024, "x"));
  assert.equal(refusal(values(96)), undefined);
  const refused = refusal(values(97));
  assert.equal(refused?.until, "never");
  assert.match(refused.message, /count 6208 KiB, and the limit is 6144 KiB/);
  assert.equal(refusal([Buffer.alloc(10 * 1024 * 1024)]), undefined);
});

test("the tasks of a delegate share a bound: the next one waits until memory is free, the only one never does", async () => {
  const masking = createMasking(10_000, 12_000);
  const secret = [Buffer.alloc(8_000, "secret ")];
  const first = masking.createStepMask(secret);
  assert.equal(masking.refusal([Buffer.alloc(4_000)]), undefined);
  assert.equal(masking.refusal(secret)?.until, "now");
  await first.ready;
  first.release();
  first.release();
  assert.equal(masking.refusal(secret), undefined);
  masking.createStepMask(secret);
  assert.equal(masking.refusal([Buffer.alloc(4_001)])?.until, "now");
});

test("until its masks are made, and after they are given up, nothing is told of a task", async () => {
  // 1120 bytes: more than is made ready at once.
  const { text, holds, ready, release } = createMasking().createStepMask([Buffer.from("correct horse\n".repeat(80))]);
  assert.equal(text("a correct horse"), "(withheld)");
  assert.equal(holds("anything"), true);
  await ready;
  assert.equal(text("a correct horse"), `a ${MASK}`);
  assert.deepEqual([holds("a correct horse"), holds("anything")], [true, false]);
  assert.equal(holds("63 6f 72 72 65 63 74 20 68 6f 72 73 65"), true);
  release();
  assert.equal(text("a correct horse"), "(withheld)");
});

test("the automata of a delegate's tasks share a bound: beyond it secrets are found by fingerprints alone", async () => {
  const { createStepMask } = createMasking();
  // Fingerprints mask a part of a value; an automaton masks whole values and lines only.
  const start = async () => {
    const value = randomBytes(24 * 1024).toString("base64");
    const { text, ready, release } = createStepMask([Buffer.from(value)]);
    await ready;
    assert.equal(text(value), MASK);
    return { hasAutomaton: !text(value.slice(1_000, 1_064)).includes(MASK), release };
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

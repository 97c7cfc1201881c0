import assert from "node:assert/strict";
import { test } from "node:test";
import { beside, faultsOf, measure, type Figure, type Result } from "./result.ts";

const figure = { name: "rate", value: 3, unit: "/s" } as const;
const resultOf = (figures: readonly Figure[], parameters: Result["parameters"] = {}): Result => ({
  definition: "From here to there.",
  parameters,
  figures,
});
const { signal } = new AbortController();
const run = (result: Result): Promise<Result> =>
  measure(
    "x",
    async () => result,
    signal,
    () => undefined,
    "brief",
  );

test("a result of numbers is answered as it is", async () => {
  const result = resultOf([beside({ ...figure, floor: 2 }), { ...figure, name: "memory", value: -1 }], {
    rounds: 1,
    headline: "sent",
    each: [1, 2],
  });
  assert.equal(await run(result), result);
});

test("a number that is none makes a result worthless, wherever it stands", async () => {
  assert.deepEqual(faultsOf(resultOf([{ ...figure, value: Number.NaN }])), ["rate: value is NaN"]);
  assert.deepEqual(faultsOf(resultOf([beside({ ...figure, floor: 0 })])), ["rate: ratio is Infinity"]);
  assert.deepEqual(faultsOf(resultOf([{ ...figure, floor: Number.NaN, ratio: 1 }])), ["rate: floor is NaN"]);
  assert.deepEqual(faultsOf(resultOf([figure], { ratios: [1, Number.NaN] })), ["ratios is NaN"]);
  assert.deepEqual(faultsOf(resultOf([figure], { rounds: Number.NaN })), ["rounds is NaN"]);
  await assert.rejects(
    run(resultOf([{ ...figure, value: Number.NaN }])),
    /^Error: the benchmark x .*: rate: value is NaN$/,
  );
});

test("nothing measured, two figures of one name and a goal that nothing can meet are worthless too", () => {
  assert.deepEqual(faultsOf(resultOf([])), ["no figures"]);
  assert.deepEqual(faultsOf(resultOf([figure, figure])), ["two figures named rate"]);
  assert.deepEqual(faultsOf(resultOf([{ ...figure, goal: { of: "ratio", atLeast: 1 } }])), [
    "rate: ratio is undefined",
  ]);
});

test("a benchmark that throws is named", async () => {
  const cause = new Error("the server ended with code 1");
  const failing = measure(
    "latency",
    () => Promise.reject(cause),
    signal,
    () => undefined,
    "brief",
  );
  await assert.rejects(failing, { message: "the benchmark latency failed", cause });
});

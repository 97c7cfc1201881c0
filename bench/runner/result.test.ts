import assert from "node:assert/strict";
import { test } from "node:test";
import { withRatio, faultsOf, type Figure, type Result } from "./result.ts";

const figure = { name: "rate", value: 3, unit: "/s" } as const;
const resultOf = (figures: readonly Figure[], parameters: Result["parameters"] = {}): Result => ({
  definition: "From here to there.",
  parameters,
  figures,
});

test("a result whose numbers are all finite is valid", () => {
  const figures = [withRatio({ ...figure, floor: 2 }), { ...figure, name: "memory", value: -1 }];
  assert.deepEqual(faultsOf(resultOf(figures, { rounds: 1, headline: "sent", each: [1, 2] })), []);
});

test("NaN or Infinity in a figure or parameter makes a result invalid", () => {
  assert.deepEqual(faultsOf(resultOf([{ ...figure, value: Number.NaN }])), ["rate: value is NaN"]);
  assert.deepEqual(faultsOf(resultOf([withRatio({ ...figure, floor: 0 })])), ["rate: ratio is Infinity"]);
  assert.deepEqual(faultsOf(resultOf([{ ...figure, floor: Number.NaN, ratio: 1 }])), ["rate: floor is NaN"]);
  assert.deepEqual(faultsOf(resultOf([figure], { ratios: [1, Number.NaN] })), ["ratios is NaN"]);
  assert.deepEqual(faultsOf(resultOf([figure], { rounds: Number.NaN })), ["rounds is NaN"]);
});

test("no figures, two figures with the same name and a goal without its ratio make a result invalid", () => {
  assert.deepEqual(faultsOf(resultOf([])), ["no figures"]);
  assert.deepEqual(faultsOf(resultOf([figure, figure])), ["two figures named rate"]);
  assert.deepEqual(faultsOf(resultOf([{ ...figure, goal: { of: "ratio", atLeast: 1 } }])), [
    "rate: ratio is undefined",
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatValue, incrementsOf } from "./units.ts";

test("values are shown in their unit", () => {
  assert.equal(formatValue(1_234, "count"), "1,234");
  assert.equal(formatValue(185_000, "duration"), "3m 5s");
  assert.equal(formatValue(0, "duration"), "0");
  assert.equal(formatValue(0.995, "share"), "100%");
  assert.equal(formatValue(0.25, "share"), "25%");
});

test("lines of the grid ascend, and each duration of them is one round number", () => {
  for (const unit of ["count", "duration", "share"] as const) {
    const steps = incrementsOf(unit);
    assert.deepEqual(
      steps,
      steps.toSorted((a, b) => a - b),
    );
  }
  assert.deepEqual(
    incrementsOf("duration")
      .map((step) => formatValue(step, "duration"))
      .filter((text) => text.includes(" ")),
    [],
  );
});

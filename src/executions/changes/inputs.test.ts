import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDocument } from "../../platform/document/document.ts";
import { inputChanges } from "./inputs.ts";

const compare = (before: string, after: string) => {
  const { changes } = inputChanges(parseDocument(before).value, parseDocument(after).value);
  return changes.map(({ path, before: old, after: now }) => `${path}: ${old} → ${now}`);
};

test("items are compared by their names, wherever they stand in their lists", () => {
  const stages = (one: string, two: string): string => `pipeline:
  identifier: p
  stages:
    - stage: { identifier: a, type: Custom, variables: [{ name: x, type: String, value: "${one}" }] }
    - parallel:
        - stage: { identifier: b, spec: { execution: { steps: [{ step: { identifier: s, timeout: "${two}" } }] } } }`;
  assert.deepEqual(compare(stages("1", "2m"), stages("1", "3m")), [
    "pipeline.stages.b.spec.execution.steps.s.timeout: 2m → 3m",
  ]);
  assert.deepEqual(compare(stages("1", "2m"), stages("2", "2m")), ["pipeline.stages.a.variables.x: 1 → 2"]);
  const listed = (text: string): string => `pipeline: { variables: [${text}] }`;
  const [x, y] = ["{ name: x, type: String, value: 1 }", "{ name: y, value: 2 }"];
  assert.deepEqual(compare(listed(`${x}, ${y}`), listed(`${y}, ${x}`)), []);
  assert.deepEqual(compare(listed(x), listed(y)), ["pipeline.variables.x: 1 → null", "pipeline.variables.y: null → 2"]);
  assert.deepEqual(compare("tags: [a, b]", "tags: [a, c]"), ["tags.1: b → c"]);
});

test("of a secret nothing is shown but that it has changed", () => {
  const secret = (value: string, type = "Secret") => ({ pipeline: { variables: [{ name: "key", type, value }] } });
  const change = { path: "pipeline.variables.key", before: null, after: null, isSecret: true };
  assert.deepEqual(inputChanges(secret("a"), secret("b")).changes, [change]);
  assert.deepEqual(inputChanges(secret("a"), secret("b", "String")).changes, [change]);
  assert.deepEqual(inputChanges(secret("a"), secret("a")).changes, []);
});

test("long values are shortened, and of many changes the first ones are shown", () => {
  const [change] = inputChanges({ a: "x".repeat(2_000) }, undefined).changes;
  assert.deepEqual([change?.before?.length, change?.after], [1_024, null]);
  const many = (value: number) => Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, value]));
  const { changes, hasMore } = inputChanges(many(1), many(2));
  assert.deepEqual([changes.length, hasMore], [200, true]);
  assert.deepEqual(inputChanges(undefined, undefined), { changes: [], hasMore: false });
});

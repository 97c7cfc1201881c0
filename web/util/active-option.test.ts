import assert from "node:assert/strict";
import { test } from "node:test";
import { moveActive } from "./active-option.ts";

const options = [{ disabled: true }, {}, {}, { disabled: true }, {}];

test("arrow keys move past disabled options and around the ends", () => {
  for (const [key, from, expected] of [
    ["ArrowDown", -1, 1],
    ["ArrowDown", 1, 2],
    ["ArrowDown", 2, 4],
    ["ArrowDown", 4, 1],
    ["ArrowUp", -1, 4],
    ["ArrowUp", 4, 2],
    ["ArrowUp", 1, 4],
    ["Home", 4, 1],
    ["End", 1, 4],
    ["a", 1, undefined],
  ] as const)
    assert.equal(moveActive(key, from, options), expected, `${key} from ${from}`);
});

test("no option becomes active if none can be chosen", () => {
  assert.equal(moveActive("ArrowDown", -1, []), -1);
  assert.equal(moveActive("ArrowUp", -1, [{ disabled: true }]), -1);
});

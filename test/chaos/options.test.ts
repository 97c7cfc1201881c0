import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readOptions } from "./options.ts";
import { PLANTS } from "./faults/plants.ts";

test("options and their defaults", () => {
  const usual = { seed: 500_000, seconds: 120, rate: 3, plant: undefined, plants: false };
  assert.deepEqual(
    readOptions([], () => 0.5),
    usual,
  );
  const given = readOptions(["--seed", "7", "--minutes", "0.5", "--rate", "9"], () => 0);
  assert.deepEqual(given, { ...usual, seed: 7, seconds: 30, rate: 9 });
});

for (const args of [["--seed", "x"], ["--minutes", "-1"], ["--rate", "0"], ["--plant", "toString"], ["--what"]])
  test(`refused: ${args.join(" ")}`, () => assert.throws(() => readOptions(args, () => 0), /--/));

test("each line that a planted fault replaces is in its module once", () => {
  for (const { module, replace } of Object.values(PLANTS).flatMap(({ changes }) => changes)) {
    const text = readFileSync(new URL(`../../${module}`, import.meta.url), "utf8");
    const [from] = replace;
    assert.equal(text.match(from)?.length, 1, `${module}: ${from.source}`);
  }
});

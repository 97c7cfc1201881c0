import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../../core/problem.ts";
import { createBatch } from "./batch.ts";

test("what is asked without a pause is loaded at once, apart for each request and each variant", async () => {
  const loads: string[] = [];
  const batch = createBatch(async (context: { name: string }, keys: readonly number[], variant) => {
    loads.push(`${context.name} ${variant} ${keys.join()}`);
    return keys.map((key) => key * 10);
  });
  const [one, two] = [{ name: "one" }, { name: "two" }];
  const values = await Promise.all([batch(one, 1, "a"), batch(two, 2, "a"), batch(one, 3, "b"), batch(one, 1, "a")]);
  assert.deepEqual(values, [10, 20, 30, 10]);
  assert.deepEqual(loads, ["one a 1", "two a 2", "one b 3"]);
  assert.equal(await batch(one, 4, "a"), 40);
  assert.equal(loads.at(-1), "one a 4");
});

test("a load that fails fails for whoever asked, and not for those who ask later", async () => {
  let broken = true;
  const batch = createBatch(async (_context: object, keys: readonly number[]) => {
    if (broken) throw new Error("broken");
    return keys;
  });
  const context = {};
  for (const { status } of await Promise.allSettled([batch(context, 1, ""), batch(context, 2, "")]))
    assert.equal(status, "rejected");
  broken = false;
  assert.equal(await batch(context, 3, ""), 3);
});

test("a problem instead of a value fails for its key alone", async () => {
  const batch = createBatch(async (_context: object, keys: readonly number[]) =>
    keys.map((key) => (key === 2 ? new Problem("x.y", 400, "X", "broken") : key * 10)),
  );
  const context = {};
  const answers = await Promise.allSettled([batch(context, 1, ""), batch(context, 2, ""), batch(context, 3, "")]);
  assert.deepEqual(
    answers.map((answer) => (answer.status === "fulfilled" ? answer.value : answer.reason.message)),
    [10, "broken", 30],
  );
});

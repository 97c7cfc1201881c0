import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../../test/support/until.ts";
import { createLogSearch, hitParts, MOST_HITS, neighbourHit } from "./log-search.ts";

const part = (hits: readonly number[], next: number, more: boolean) =>
  ({ hits, next, more, totalLines: 100, endOffset: 100, complete: false }) as const;

test("parts are looked through one after the other, and what is added later from where it ended", async () => {
  const answers = [part([1, 2], 50, true), part([2, 3], 100, false), part([9], 120, false)];
  const asked: number[] = [];
  const search = createLogSearch((_text, from) => {
    asked.push(from);
    return Promise.resolve(answers[asked.length - 1] ?? part([], 0, false));
  }, "text");
  search.run();
  await until(() => !search.isSearching(), Boolean);
  assert.deepEqual([search.hits(), search.progress()], [[1, 2, 3], 1]);
  search.run();
  await until(() => !search.isSearching(), Boolean);
  assert.deepEqual(
    [search.hits(), asked],
    [
      [1, 2, 3, 9],
      [0, 50, 100],
    ],
  );
});

test("it ends once there are more hits than are kept", async () => {
  let nth = 0;
  const search = createLogSearch(() => {
    const hits = Array.from({ length: 10_000 }, (_, at) => nth * 10_000 + at + 1);
    nth += 1;
    return Promise.resolve(part(hits, nth, true));
  }, "text");
  search.run();
  await until(() => !search.isSearching(), Boolean);
  assert.deepEqual([search.hits().length, search.isCut()], [MOST_HITS, true]);
});

test("a failure ends it, and it goes on when told", async () => {
  let fails = true;
  const search = createLogSearch(
    () => (fails ? Promise.reject(new TypeError("no connection")) : Promise.resolve(part([4], 100, false))),
    "text",
  );
  search.run();
  await until(() => search.error() !== undefined, Boolean);
  fails = false;
  search.run();
  await until(() => search.hits().length === 1, Boolean);
  assert.equal(search.error(), undefined);
});

test("the neighbours of a line go around", () => {
  const hits = [5, 9, 20];
  assert.deepEqual(
    [neighbourHit(hits, 5, 1), neighbourHit(hits, 6, 1), neighbourHit(hits, 20, 1), neighbourHit(hits, 0, 1)],
    [1, 1, 0, 0],
  );
  assert.deepEqual([neighbourHit(hits, 9, -1), neighbourHit(hits, 5, -1), neighbourHit(hits, 6, -1)], [0, 2, 0]);
  assert.equal(neighbourHit([], 5, 1), -1);
});

test("marks are as many as there are parts, not hits", () => {
  const hits = Array.from({ length: 1_000 }, (_, at) => at + 1);
  assert.equal(hitParts(hits, 1_000, 200).length, 200);
  assert.deepEqual(hitParts([1, 1_000], 1_000, 200), [0, 199]);
});

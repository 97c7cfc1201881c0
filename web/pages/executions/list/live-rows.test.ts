import assert from "node:assert/strict";
import { test } from "node:test";
import type { Summary } from "../../../components/execution-store.ts";
import { showWaiting, updateRows, type LiveRows } from "./live-rows.ts";

const row = (planExecutionId: string, createdAt: number, status = "Running"): Summary =>
  ({ planExecutionId, createdAt, startTs: createdAt, status }) as Summary;
const page: LiveRows = { shown: [row("b", 20), row("a", 10)], waiting: [] };
const all = (): boolean => true;
const ids = (rows: readonly Summary[]): readonly string[] => rows.map((one) => one.planExecutionId);

test("a changed execution keeps its place", () => {
  const { shown, waiting } = updateRows(page, [row("a", 10, "Success")], all);
  assert.deepEqual(ids(shown), ["b", "a"]);
  assert.equal(shown[1]?.status, "Success");
  assert.deepEqual(waiting, []);
});

test("new executions wait, the newest first, until they are shown above the others", () => {
  const once = updateRows(page, [row("c", 30)], all);
  const twice = updateRows(once, [row("d", 40), row("c", 30, "Failed")], all);
  assert.deepEqual(ids(twice.shown), ["b", "a"]);
  assert.deepEqual(ids(twice.waiting), ["d", "c"]);
  assert.equal(twice.waiting[1]?.status, "Failed");
  const { shown, waiting } = showWaiting(twice);
  assert.deepEqual(ids(shown), ["d", "c", "b", "a"]);
  assert.deepEqual(waiting, []);
});

test("an old execution of a later page and one that the filters leave out are not announced", () => {
  assert.deepEqual(updateRows(page, [row("z", 5)], all).waiting, []);
  assert.deepEqual(updateRows(page, [row("c", 30)], () => false).waiting, []);
});

test("a page that is open for long does not grow without end", () => {
  const many = Array.from({ length: 300 }, (_, index) => row(`n${index}`, 100 + index));
  const { shown } = showWaiting(updateRows(page, many, all));
  assert.equal(shown.length, 200);
  assert.equal(shown[0]?.planExecutionId, "n299");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../core/problem.ts";
import { createWorkerPool } from "./pool.ts";

const file = new URL("./testing/worker.ts", import.meta.url);
const TURNS = { atOnce: 1, atOnceOfOne: 1, waiting: 4, waitingOfOne: 2 };
const poolOf = (bounds: { readonly timeoutMs?: number; readonly memoryMb?: number } = {}) =>
  createWorkerPool({ elapsed: () => 0, file, timeoutMs: 60_000, turns: TURNS, ...bounds });

async function refusal(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Problem, String(error));
  return error;
}

test("a worker answers with its result, and goes on to the next work", async () => {
  const run = poolOf();
  const [first, second] = [await run("a", { does: "thread" }), await run("b", { does: "thread" })];
  assert.equal(first, second);
  assert.notEqual(first, 0, "not the thread of the test");
});

test("a problem keeps its code, faults and message; another error keeps its stack for the log", async () => {
  const run = poolOf();
  const problem = await refusal(run("a", { does: "refuse" }));
  assert.deepEqual(
    [problem.code, problem.status, problem.wire, problem.message],
    ["test.no", 400, "NO", "It is refused."],
  );
  assert.deepEqual(problem.faults, [{ path: "a.b", message: "wrong", line: 1, column: 2 }]);
  await assert.rejects(run("a", { does: "fail" }), (error: Error) => /worker\.ts/.test(String(error.cause)));
  assert.equal(typeof (await run("a", { does: "thread" })), "number", "the worker still answers");
});

test("work that does not end is stopped, and the next has a worker of its own", async () => {
  const run = poolOf({ timeoutMs: 300 });
  assert.equal((await refusal(run("a", { does: "loop" }))).code, "workers.too_long");
  assert.equal((await refusal(run("a", { does: "loop" }))).status, 400);
});

test("a worker that ends in its work fails that work only", async () => {
  const run = poolOf();
  await assert.rejects(run("a", { does: "exit" }), /the worker has ended/);
  assert.equal(typeof (await run("a", { does: "thread" })), "number");
});

test("memory is bounded", async () => {
  assert.equal((await refusal(poolOf({ memoryMb: 16 })("a", { does: "hoard" }))).code, "workers.too_long");
});

test("of one account few wait, so that another one has its turn", async () => {
  const run = poolOf();
  const works = Array.from({ length: 4 }, () => run("a", { does: "thread" }));
  const refused = refusal(works[3] as Promise<unknown>);
  const other = run("b", { does: "thread" });
  const { code, status, retryAfter } = await refused;
  assert.deepEqual([code, status, retryAfter], ["workers.too_many", 429, 5]);
  assert.equal(typeof (await other), "number");
  await Promise.all(works.slice(0, 3));
});

test("a worker knows nothing of the server's environment", async () => {
  process.env["POOL_TEST"] = "secret";
  assert.deepEqual(await poolOf()("a", { does: "environment" }), []);
});

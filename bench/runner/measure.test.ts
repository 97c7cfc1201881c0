import assert from "node:assert/strict";
import { test } from "node:test";
import { measure, TO_STOP_MS } from "./measure.ts";
import type { Bench, Result } from "./result.ts";

const result: Result = { definition: "", parameters: {}, figures: [{ name: "rate", value: 3, unit: "/s" }] };
const run = (bench: Bench, { signal } = new AbortController()): Promise<Result> =>
  measure("latency", bench, signal, () => undefined, "brief");

test("a result is answered as it is", async () => assert.equal(await run(async () => result), result));

test("a benchmark that throws is named", async () => {
  const cause = new Error("the server ended with code 1");
  await assert.rejects(
    run(() => Promise.reject(cause)),
    { message: "the benchmark latency failed", cause },
  );
});

test("one whose figures are worthless is named", async () => {
  await assert.rejects(
    run(async () => ({ ...result, figures: [] })),
    { message: "the benchmark latency measured nothing of worth: no figures" },
  );
});

test("one that does not stop is not waited for", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const stop = new AbortController();
  const running = run(() => new Promise(() => {}), stop);
  stop.abort(new Error("stopped by SIGTERM"));
  mock.timers.tick(TO_STOP_MS);
  await assert.rejects(running, ({ message, cause }: Error) => {
    assert.equal(message, "the benchmark latency failed");
    assert.match(String(cause), /it was told to stop and did not/);
    return true;
  });
});

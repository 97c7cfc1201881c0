import assert from "node:assert/strict";
import { test } from "node:test";
import { measure, STOP_TIMEOUT_MS } from "./measure.ts";
import type { Bench, Result } from "./result.ts";

const result: Result = { definition: "", parameters: {}, figures: [{ name: "rate", value: 3, unit: "/s" }] };
const run = (bench: Bench, { signal } = new AbortController()): Promise<Result> =>
  measure("latency", bench, signal, () => undefined, "brief");

test("measure returns the benchmark's result", async () => assert.equal(await run(async () => result), result));

test("the error names a benchmark that throws", async () => {
  const cause = new Error("the server ended with code 1");
  await assert.rejects(
    run(() => Promise.reject(cause)),
    { message: "the benchmark latency failed", cause },
  );
});

test("the error names a benchmark with an invalid result", async () => {
  await assert.rejects(
    run(async () => ({ ...result, figures: [] })),
    { message: "the benchmark latency has an invalid result: no figures" },
  );
});

test("measure rejects if a benchmark does not stop after the signal", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const stop = new AbortController();
  const running = run(() => new Promise(() => {}), stop);
  stop.abort(new Error("stopped by SIGTERM"));
  mock.timers.tick(STOP_TIMEOUT_MS);
  await assert.rejects(running, ({ message, cause }: Error) => {
    assert.equal(message, "the benchmark latency failed");
    assert.match(String(cause), /it did not stop after the signal/);
    return true;
  });
});

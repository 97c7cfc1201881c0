import assert from "node:assert/strict";
import { test } from "node:test";
import type { Uuid } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import { parseDocument } from "../../platform/document/document.ts";
import { PIPELINE_LIMITS } from "../document/limits.ts";
import { jobs } from "./jobs.ts";
import { largePipeline } from "./large-sample.ts";
import { createRunJob } from "./run-job.ts";

const A = "a" as Uuid;
const SCOPE = { orgIdentifier: "default", projectIdentifier: "p" };
const runJob = createRunJob({ elapsed: () => 0 });
const sent = (text: string) => ({ text, format: "yaml" as const, scope: SCOPE });

/** Rounds of the event loop while the work is under way. */
async function roundsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  let rounds = 0;
  void work.finally(() => (isDone = true)).catch(() => undefined);
  while (!isDone) {
    await new Promise(setImmediate);
    rounds += 1;
  }
  return rounds;
}

/** `deepEqual` takes ten seconds for such values. */
function assertSame(one: unknown, other: unknown): void {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, part: unknown) => (part instanceof Map ? [...part.entries()] : part));
  assert.ok(text(one) === text(other));
}

test("4,900 steps are read and filled in beside the event loop, with the same result as in it", async () => {
  const text = largePipeline({ stages: 20, steps: 245 });
  const reading = runJob(A, "read", sent(text));
  assert.ok((await roundsDuring(reading)) > 100, "the event loop goes on");
  assertSame(await reading, jobs.read(sent(text), { limits: PIPELINE_LIMITS }));
  const toFill = { yaml: text, scope: SCOPE, input: { text: "pipeline: {}", format: "yaml" as const } };
  const filling = runJob(A, "fillIn", toFill);
  assert.ok((await roundsDuring(filling)) > 100);
  assertSame(await filling, jobs.fillIn(toFill, { limits: PIPELINE_LIMITS }));
});

test("small documents are read in the event loop, without a worker", async () => {
  const small = largePipeline({ stages: 2, steps: 3 });
  assert.ok((await roundsDuring(runJob(A, "read", sent(small)))) <= 2);
});

test("many values in a small text are read in a worker; faults have their place there", async () => {
  const { value } = parseDocument(largePipeline({ stages: 1, steps: 200 }), PIPELINE_LIMITS);
  const text = JSON.stringify(value).replace('"ShellScript"', '"Unknown"');
  assert.ok(text.length < 64 * 1024);
  const reading = runJob(A, "read", { ...sent(text), format: "json" });
  assert.ok((await roundsDuring(reading.catch(() => undefined))) > 2);
  const error = await reading.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Problem);
  const [fault] = error.faults;
  const column = text.indexOf('"Unknown"') + 1;
  assert.deepEqual([error.code, fault?.line, fault?.column], ["document.invalid", 1, column]);
  assert.match(JSON.stringify(fault?.about), /"identifier":"step0"/);
});

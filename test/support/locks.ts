/** Pipelines with locks, in the project `p` of the organization `default`. */
import assert from "node:assert/strict";
import type { Answer, SendOptions, TestPlatform } from "./platform.ts";
import { detailOf, SCOPE } from "./runs.ts";

type Sender = { readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answer> };

/** The step `ID`, which asks for a lock. */
export const queueStep = (identifier: string, key: string, scope: "Pipeline" | "Stage", timeout?: string): object => ({
  step: { type: "Queue", name: identifier, identifier, ...(timeout && { timeout }), spec: { key, scope } },
});

/** The step `ID`, which waits until the clock has passed its duration. */
export const waitStep = (identifier: string, duration = "1h"): object => ({
  step: { type: "Wait", name: identifier, identifier, spec: { duration } },
});

export type StageSketch = {
  readonly id: string;
  readonly steps: readonly object[];
  readonly rollbackSteps?: readonly object[];
  /** Fields of the stage, and of its infrastructure. */
  readonly fields?: object;
  readonly infrastructure?: object;
};

export const stageOf = ({ id, steps, rollbackSteps = [], fields = {}, infrastructure = {} }: StageSketch): object => ({
  stage: {
    ...{ name: id, identifier: id, type: "Deployment", failureStrategies: [], ...fields },
    spec: {
      serviceConfig: { serviceRef: "s" },
      infrastructure: { environmentRef: "e", ...infrastructure },
      execution: { steps, rollbackSteps },
    },
  },
});

/** A pipeline with these items in `stages`. */
export async function addStagesPipeline(
  to: Sender,
  { id, stages, fields = {} }: { readonly id: string; readonly stages: readonly object[]; readonly fields?: object },
): Promise<void> {
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  const answer = await to.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: "application/json",
    body: JSON.stringify({ pipeline: { name: id, identifier: id, ...place, ...fields, stages } }),
  });
  assert.equal(answer.status, 200, answer.text);
}

/** The statuses of nodes of a run, and why they wait. */
export async function waitingOf(to: Sender, id: string, ...nodes: readonly string[]): Promise<readonly string[]> {
  const { step } = await detailOf(to, id);
  return nodes.map((node) => [step(node)["status"], step(node)["waitReason"] ?? []].flat().join(": "));
}

/** Lets time pass, and does all that is due. */
export async function passLocks(platform: TestPlatform, ms = 0): Promise<void> {
  platform.clock.advance(ms);
  await platform.platform.sweep();
}

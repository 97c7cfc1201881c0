/** Keeps pipelines that are filled in. A version never changes, so one reading serves every run with the same inputs. */
import type { Uuid } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import type { Filled, ToFill } from "../fill.ts";
import type { SavedPipeline } from "../pipeline.ts";
import type { RunJob } from "./run-job.ts";

/** Throws what reading the pipeline and merging the inputs throw. */
export type FillPipeline = (
  accountId: Uuid,
  pipeline: Pick<SavedPipeline, "id" | "version" | "yaml">,
  to: Pick<ToFill, "scope" | "input" | "late" | "selection">,
) => Promise<Filled>;

/** Characters of the documents that are kept; in memory, one takes some ten times as much. */
const KEPT_CHARS = 8 * 1024 * 1024;

export function createFillPipeline(runJob: RunJob): FillPipeline {
  const kept = createLru<string, Filled>(KEPT_CHARS, (key, { length }) => key.length + length);
  /** Runs that start together wait for the same reading. */
  const underWay = new Map<string, Promise<Filled>>();

  async function fill(accountId: Uuid, toFill: ToFill, key: string): Promise<Filled> {
    const reading = runJob(accountId, "fillIn", toFill);
    underWay.set(key, reading);
    try {
      const filled = await reading;
      kept.set(key, filled);
      return filled;
    } finally {
      underWay.delete(key);
    }
  }

  return async (accountId, { id, version, yaml }, { scope, input, late = [], selection }) => {
    const stages = selection ? JSON.stringify([selection.stages, selection.expressionValues]) : "";
    const key = `${id} ${version} ${late.join(" ")} ${stages} ${input?.format ?? ""} ${input?.text ?? ""}`;
    const text = input && { text: input.text, format: input.format };
    return kept.get(key) ?? underWay.get(key) ?? fill(accountId, { yaml, scope, input: text, late, selection }, key);
  };
}

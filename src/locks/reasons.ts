import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { FindLockReasons, GetListed } from "../executions/index.ts";
import type { Db } from "../platform/db/db.ts";
import { findWaiting, type WaitingNode } from "./store.ts";

export type ReasonDeps = { readonly db: Db; readonly getExecution: GetListed };

/** For whom the nodes of an execution wait that wait for a lock. Executions that the reader may not see have no name. */
export const findLockReasons =
  (deps: ReasonDeps): FindLockReasons =>
  async (actor, executionId) => {
    const all = await findWaiting(deps.db, actor.accountId, executionId);
    const names = new Map([[executionId, "this execution itself"]]);
    for (const id of new Set(all.flatMap(({ holders }) => holders)))
      if (!names.has(id)) names.set(id, await nameOf(deps, actor, id));
    return new Map(
      all.map((waiting) => [
        waiting.nodeId,
        reasonOf(
          waiting,
          waiting.holders.map((id) => names.get(id) ?? ""),
        ),
      ]),
    );
  };

async function nameOf({ getExecution }: ReasonDeps, actor: Actor, id: Uuid): Promise<string> {
  try {
    const { pipelineIdentifier, runSequence } = await getExecution(actor, toWire(id));
    return `execution ${runSequence} of pipeline '${pipelineIdentifier}'`;
  } catch (error) {
    if (error instanceof Problem) return "another execution";
    throw error;
  }
}

function reasonOf({ kind, key, position }: WaitingNode, holders: readonly string[]): string {
  const what = kind === "stage" ? "the infrastructure" : `the lock '${key}'`;
  const whose = holders.length === 0 ? "which is being granted" : `which ${holders.join(" and ")} uses`;
  return `Waits for ${what}, ${whose}. Position in the queue: ${position}.`;
}

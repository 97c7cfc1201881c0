import type { InstanceId, NodeState } from "../engine/index.ts";
import type { Store } from "../platform/db/db.ts";
import { changedSince, type Revision } from "./recent-changes.ts";
import { findNodes, findNodesById, type RunKey } from "./store/advance.ts";

/** The nodes of an execution at `at` that have changed since a revision. They may be of a later one by now. */
export async function findChangedNodes(
  db: Store,
  run: RunKey,
  at: Revision,
  known: number,
): Promise<Map<InstanceId, NodeState>> {
  if (known === at.revision) return new Map<InstanceId, NodeState>();
  const changed = changedSince(at, known);
  return changed ? findNodesById(db, run.accountId, changed) : findNodes(db, run, known);
}

/** How many nodes an execution may have. */
import type { Failure, NodeState, Plan } from "./model.ts";
import { ancestorsOf, childrenOf, nodeOf } from "./plan-index.ts";
import type { Run } from "./run.ts";

/** Nodes of one execution, as a document and each loop and retry count them when they begin. */
export const MAX_NODES = 5_000;
/**
 * Instances that one execution creates. A document of MAX_NODES has up to three for each of its nodes: the loop around a
 * stage, and the lists below it, are not counted there. Loops and retries that are open at once may each count on the
 * same room.
 */
const MAX_INSTANCES = 3 * MAX_NODES;

/** Nodes of a definition and all below it. */
export function sizeOf(plan: Plan, id: string): number {
  let size = 0;
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    size += 1;
    open.push(...childrenOf(nodeOf(plan, at)));
  }
  return size;
}

/**
 * The nodes that an execution may have with a loop, or another try of a node. What undoes work has room of its own,
 * however much the work has taken.
 */
export const maxNodesWith = (plan: Plan, definition: string): number =>
  isUndoing(plan, definition) ? MAX_INSTANCES + MAX_NODES : MAX_NODES;

/** Why a node may not start another child. What undoes work always may, but for the iterations of its loops. */
export function instancesFault(run: Run, { definition, progress }: NodeState, added: number): Failure | undefined {
  const instances = run.nodes + added;
  if (instances < MAX_INSTANCES || progress?.phase === "rollback") return undefined;
  const isInRollback = isUndoing(run.plan, definition);
  if (isInRollback && (instances < 2 * MAX_INSTANCES || nodeOf(run.plan, definition).kind !== "loop")) return undefined;
  const message = `An execution has at most ${MAX_NODES} nodes, and this one has come to ${instances} with its loops and retries`;
  return { message, types: ["Unknown"] };
}

function isUndoing(plan: Plan, definition: string): boolean {
  const around = [nodeOf(plan, definition), ...ancestorsOf(plan, definition)];
  return around.some((node) => node.kind === "group" && node.role === "rollbackSteps");
}

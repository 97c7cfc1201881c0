import { childOf, countOf } from "./children.ts";
import { aroundExpired } from "./failure.ts";
import { instanceOf } from "./instance.ts";
import type { NodeState } from "./model.ts";
import {
  attemptOf,
  change,
  close,
  definitionOf,
  findNode,
  nodeAt,
  progressOf,
  type Run,
  withdraw,
  type Work,
} from "./run.ts";
import { isFinal } from "./status.ts";

type Stop = Exclude<NodeState["stopping"], null>;

/**
 * Ends a node and all that is open below it: nothing new starts there, tasks are asked to end, and what only waits ends
 * at once. A task that is being stopped already, because its time is up, stays that way. Returns what follows.
 */
export function stopTree(run: Run, node: NodeState, as: Stop, except?: NodeState): readonly Work[] {
  const leaves: NodeState[] = [];
  mark(run, node, as, leaves);
  return leaves.filter(({ id }) => id !== except?.id).flatMap(({ id }) => stopLeaf(run, nodeAt(run, id), as));
}

/** Marks the nodes with open children; collects the open nodes without, in the order of the plan. */
function mark(run: Run, node: NodeState, as: Stop, leaves: NodeState[]): void {
  if (isFinal(node.status)) return;
  // Children that are about to be created count: they end as soon as they are.
  if (node.progress === null || node.progress.open === 0) {
    leaves.push(node);
    return;
  }
  change(run, withdraw(run, node).id, { stopping: as });
  for (const child of openChildren(run, node)) mark(run, child, as, leaves);
}

/** The children of a node that have not ended. */
export function openChildren(run: Run, node: NodeState): readonly NodeState[] {
  if (node.progress === null || node.progress.open === 0) return [];
  const definition = definitionOf(run, node);
  const { next } = progressOf(node);
  const open: NodeState[] = [];
  for (let index = 0; index < Math.min(next, countOf(definition, progressOf(node))); index += 1) {
    const { id } = instanceOf(run.plan, (known) => findNode(run, known), childOf(run, node, index));
    const child = findNode(run, id);
    if (child && !isFinal(child.status)) open.push(child);
  }
  return open;
}

function stopLeaf(run: Run, node: NodeState, as: Stop): readonly Work[] {
  const attempt = node.attempts.at(-1);
  if (attempt && attempt.endedAt === null && attempt.waitsFor.includes("task")) {
    if (node.stopping === null) stopTask(run, node, as);
    return [];
  }
  const failure = as === "expired" ? aroundExpired(definitionOf(run, node), node) : node.failure;
  return close(run, stopWaiting(run, node), as, { failure });
}

/** Asks the task of a step to end. Its answer decides how the step ends. */
export function stopTask(run: Run, node: NodeState, as: Stop): void {
  change(run, node.id, { stopping: as });
  run.effects.push({ kind: "cancelTask", node: node.id, attempt: attemptOf(node).task ?? 0 });
  withdraw(run, nodeAt(run, node.id));
}

/** Takes back the time that a node waits for between two attempts. */
export function stopWaiting(run: Run, node: NodeState): NodeState {
  const { reason } = node;
  if (reason?.kind === "retry" || reason?.kind === "intervention")
    run.effects.push({ kind: "stopTimer", node: node.id, purpose: reason.kind });
  return node;
}

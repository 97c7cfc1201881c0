import type { PlanNode } from "./model.ts";
import { childOfSequenceEnded, startSequence } from "./nodes/sequence.ts";
import { childOfStageEnded, startStage } from "./nodes/stage.ts";
import { startStep } from "./nodes/step.ts";
import { nodeOf } from "./plan-index.ts";
import { parentOf, statusOf, type Run, type Work } from "./run.ts";
import { unreachable } from "./status.ts";

/**
 * Does what is to be done until nothing is left to do at once. A node that starts
 * says what starts below it; a node that has ended asks its parent what follows.
 * What follows from one item is done before the item behind it, so the order of
 * effects is that of the plan. A list instead of recursion: the stack does not
 * grow with the number of nodes that end in one transition.
 */
export function walk(run: Run, first: readonly Work[]): void {
  const todo = [...first];
  for (let work = todo.shift(); work; work = todo.shift()) {
    const node = nodeOf(run.plan, work.node);
    todo.unshift(...(work.kind === "start" ? start(run, node) : ended(run, node)));
  }
}

function start(run: Run, node: PlanNode): readonly Work[] {
  switch (node.kind) {
    case "pipeline":
    case "group":
      return startSequence(run, node);
    case "stage":
      return startStage(run, node);
    case "step":
      return startStep(run, node);
    default:
      return unreachable(node);
  }
}

function ended(run: Run, node: PlanNode): readonly Work[] {
  const parent = parentOf(run, node.id);
  if (!parent) {
    run.effects.push({ kind: "endExecution", status: statusOf(run, node.id) });
    return [];
  }
  switch (parent.kind) {
    case "pipeline":
    case "group":
      return childOfSequenceEnded(run, parent, node.id);
    case "stage":
      return childOfStageEnded(run, parent, node.id);
    case "step":
      return [];
    default:
      return unreachable(parent);
  }
}

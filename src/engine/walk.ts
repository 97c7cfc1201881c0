import { conditionFault, evaluated } from "./conditions.ts";
import { cutName } from "./instance-name.ts";
import type { NewNode } from "./instance.ts";
import type { NodeState } from "./model.ts";
import { beginContainer, childEnded, rollBack } from "./nodes/container.ts";
import { beginStep } from "./nodes/step.ts";
import { failNode } from "./recovery.ts";
import { reachReused } from "./reuse.ts";
import { isFinal } from "./status.ts";
import {
  change,
  close,
  createNode,
  definitionOf,
  findNode,
  instanceAt,
  nodeAt,
  parentOf,
  type Run,
  type Work,
} from "./run.ts";

const PAUSED = { kind: "pause", message: "Waits until the execution is resumed." } as const;

/**
 * Does what is to be done until nothing is left to do at once. A node that begins
 * says what starts below it; a node that has ended asks its parent what follows.
 * What follows from one item is done before the item behind it, so the order of
 * effects is that of the plan. A list instead of recursion: the stack does not
 * grow with the number of nodes that end in one transition.
 */
export function walk(run: Run, first: readonly Work[]): void {
  const todo = [...first].toReversed();
  for (let work = todo.pop(); work; work = todo.pop()) todo.push(...next(run, work).toReversed());
}

function next(run: Run, work: Work): readonly Work[] {
  switch (work.kind) {
    case "start":
      return start(run, work.child);
    case "begin":
      return begin(run, nodeAt(run, work.node));
    case "rollBack":
      return rollBack(run, nodeAt(run, work.node), work.undo);
    case "ended":
      return ended(run, nodeAt(run, work.node));
  }
}

function start(run: Run, child: NewNode): readonly Work[] {
  const known = findNode(run, instanceAt(run, child).id);
  if (known?.isReused) return reachReused(run, known);
  const node = createNode(run, child);
  const { iteration } = node;
  // A failure beside it has ended what it is part of.
  const stopping = parentOf(run, node)?.stopping;
  if (stopping) return close(run, node, stopping);
  if (iteration?.name === undefined) return begin(run, node);
  const name = evaluated(run, node, iteration.name);
  if (typeof name !== "string") return failNode(run, node, { status: "failed", ...name });
  return begin(run, change(run, node.id, { iteration: { ...iteration, name: cutName(name) } }));
}

function begin(run: Run, node: NodeState): readonly Work[] {
  if (isFinal(node.status)) return [];
  if (run.paused) {
    change(run, node.id, { status: "paused", reason: PAUSED });
    return [];
  }
  if (node.attempts.length === 0) {
    const fault = conditionFault(run, node);
    if (fault && "reason" in fault) return close(run, node, "skipped", { reason: fault.reason });
    if (fault) return failNode(run, node, { status: "failed", failure: fault.failure });
  }
  return definitionOf(run, node).kind === "step" ? beginStep(run, node) : beginContainer(run, node);
}

function ended(run: Run, node: NodeState): readonly Work[] {
  const parent = parentOf(run, node);
  if (parent) return childEnded(run, parent, node);
  run.effects.push({ kind: "endExecution", status: node.status });
  return [];
}

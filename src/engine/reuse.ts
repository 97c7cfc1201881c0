import { hasActed, noteActed } from "./acted.ts";
import { hasBegunBelow } from "./begun.ts";
import { childOf, countOf } from "./children.ts";
import { exportOutputs } from "./exports.ts";
import { instanceWithPath } from "./instance.ts";
import type { InstanceId, NodeState } from "./model.ts";
import { inputBytesOf, outputBytesOf } from "./output-bytes.ts";
import { indexOf } from "./plan-index.ts";
import {
  change,
  changeProgress,
  createNodeAt,
  definitionOf,
  findNode,
  instanceAt,
  nodeAt,
  type Run,
  type Work,
} from "./run.ts";

/**
 * Takes nodes of an earlier execution, and all that was below them, before anything begins. Each has ended when its parent
 * comes to it. What stands around them is neither repeated nor tried again, so that their ids are those of their
 * definitions.
 */
export function takeReused(run: Run, reused: readonly NodeState[]): void {
  const ids = new Set(reused.map(({ id }) => id));
  const byParent = Map.groupBy(reused, ({ parent }) => parent);
  const { parents } = indexOf(run.plan);
  for (const top of reused) {
    if (top.parent !== null && ids.has(top.parent)) continue;
    const { definition, path } = top;
    const node = createNodeAt(run, { id: definition, path }, { definition, parent: parents.get(definition) ?? null });
    takeTree(run, byParent, { taken: take(run, node, top), from: top });
  }
}

type Taken = { readonly taken: NodeState; readonly from: NodeState };

function takeTree(run: Run, byParent: ReadonlyMap<string | null, readonly NodeState[]>, top: Taken): void {
  const ids = new Map<InstanceId, InstanceId>([[top.from.id, top.taken.id]]);
  const open = [top];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const below of byParent.get(at.from.id) ?? []) {
      const { definition, iteration, path } = below;
      const child = { definition, parent: at.taken.id, ...(iteration && { iteration }) };
      const present = instanceAt(run, child);
      // What an earlier attempt has left, and what has undone a stage, has another path. A rollback reads both.
      const node = createNodeAt(run, present.path === path ? present : instanceWithPath(definition, path), child);
      ids.set(below.id, node.id);
      open.push({ taken: take(run, node, below), from: below });
    }
  }
  for (const id of ids.values()) {
    const node = nodeAt(run, id);
    const undo = node.progress?.undo?.map((stage) => ids.get(stage) ?? stage);
    if (undo) changeProgress(run, node, { undo });
  }
}

function take(run: Run, { id }: NodeState, earlier: NodeState): NodeState {
  const { status, reason, startedAt, endedAt, failure, attempts, tasks, inputs, progress, origin, hasActed } = earlier;
  run.outputBytes += attempts.reduce((sum, attempt) => sum + outputBytesOf(attempt), inputBytesOf(inputs));
  // Its exports name nodes of the earlier execution: they are noted anew.
  const own = progress?.exports ? { ...progress, exports: {} } : progress;
  const ended = { status, reason, startedAt, endedAt, failure, attempts, tasks, progress: own };
  const isStep = definitionOf(run, earlier).kind === "step";
  return change(run, id, {
    ...ended,
    isReused: true,
    ...(inputs && { inputs }),
    ...(origin && { origin }),
    // An earlier version has not noted it.
    ...(!isStep && { hasActed: hasActed ?? hasBegunBelow(run, earlier) }),
  });
}

/** The parent of a reused node has come to it. */
export function reachReused(run: Run, node: NodeState): readonly Work[] {
  const isStep = definitionOf(run, node).kind === "step";
  if (isStep ? node.attempts.length > 0 : hasActed(run, node)) noteActed(run, node);
  for (const step of stepsBelow(run, node)) if (step.status === "succeeded") exportOutputs(run, step);
  return [{ kind: "ended", node: node.id }];
}

function* stepsBelow(run: Run, node: NodeState): Generator<NodeState> {
  const definition = definitionOf(run, node);
  if (definition.kind === "step") yield node;
  if (node.progress === null) return;
  const main = { ...node, progress: { ...node.progress, phase: "main" as const } };
  for (let index = 0; index < countOf(definition, main.progress); index += 1) {
    const child = findNode(run, instanceAt(run, childOf(run, main, index)).id);
    if (child) yield* stepsBelow(run, child);
  }
}

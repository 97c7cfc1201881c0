import type { Barrier, BarrierTemplate, NodeState, PlanNode } from "./model.ts";
import { attemptOf, changeAttempt, definitionOf, nodeAt, parentOf, type Run } from "./run.ts";

/** The barrier that a step waits at; undefined for other steps. */
export function barrierOf(definition: PlanNode): string | undefined {
  if (definition.kind !== "step" || definition.work.kind !== "barrier") return undefined;
  return (definition.work as BarrierTemplate).reference;
}

/** The instance of the pipeline that a node belongs to. */
export function pipelineAround(run: Run, node: NodeState): NodeState {
  let at = node;
  while (definitionOf(run, at).kind !== "pipeline") at = parentOf(run, at) ?? nodeAt(run, run.plan.root);
  return at;
}

/** What tells the barriers of an execution apart: each run of a chained pipeline has its own. */
function barrierKey(run: Run, node: NodeState, reference: string): string {
  const { id } = pipelineAround(run, node);
  return id === run.plan.root ? reference : `${id} ${reference}`;
}

const CLOSED: Barrier = { arrived: [], isOpen: false };

export const barrierAt = ({ barriers }: Pick<Run, "barriers">, key: string): Barrier =>
  Object.hasOwn(barriers, key) ? (barriers[key] ?? CLOSED) : CLOSED;

/** Notes that a step has arrived at its barrier. */
export function arrive(run: Run, node: NodeState): NodeState {
  const reference = barrierOf(definitionOf(run, node));
  if (reference === undefined) throw new Error(`step ${node.path} has no barrier`);
  const key = barrierKey(run, node, reference);
  const barrier = barrierAt(run, key);
  const others = barrier.arrived.filter((one) => one.node !== node.id);
  const arrived = [...others, { definition: node.definition, node: node.id }];
  run.barriers = { ...run.barriers, [key]: { ...barrier, arrived } };
  return changeAttempt(run, node, { waitsFor: [...attemptOf(node).waitsFor, "barrier"] });
}

import type { Barrier, BarrierTemplate, NodeId, NodeState, Plan, PlanNode } from "./model.ts";
import { pipelineOf } from "./plan-index.ts";
import { attemptOf, changeAttempt, definitionOf, type Run } from "./run.ts";

/** The barrier that a step waits at; undefined for other steps. */
export function barrierOf(definition: PlanNode): string | undefined {
  if (definition.kind !== "step" || definition.work.kind !== "barrier") return undefined;
  return (definition.work as BarrierTemplate).reference;
}

/** What tells the barriers of an execution apart: each pipeline of a chain has its own. */
export function barrierKey(plan: Plan, id: NodeId, reference: string): string {
  const pipeline = pipelineOf(plan, id);
  return pipeline === plan.root ? reference : `${pipeline} ${reference}`;
}

const CLOSED: Barrier = { arrived: [], isOpen: false };

export const barrierAt = ({ barriers }: Pick<Run, "barriers">, key: string): Barrier =>
  Object.hasOwn(barriers, key) ? (barriers[key] ?? CLOSED) : CLOSED;

/** Notes that a step has arrived at its barrier. */
export function arrive(run: Run, node: NodeState): NodeState {
  const reference = barrierOf(definitionOf(run, node));
  if (reference === undefined) throw new Error(`step ${node.path} has no barrier`);
  const key = barrierKey(run.plan, node.definition, reference);
  const barrier = barrierAt(run, key);
  const others = barrier.arrived.filter((one) => one.node !== node.id);
  const arrived = [...others, { definition: node.definition, node: node.id }];
  run.barriers = { ...run.barriers, [key]: { ...barrier, arrived } };
  return changeAttempt(run, node, { waitsFor: [...attemptOf(node).waitsFor, "barrier"] });
}

import type { Barrier, BarrierTemplate, NodeState, PlanNode } from "./model.ts";
import { attemptOf, changeAttempt, definitionOf, type Run } from "./run.ts";

/** The barrier that a step waits at; undefined for other steps. */
export function barrierOf(definition: PlanNode): string | undefined {
  if (definition.kind !== "step" || definition.work.kind !== "barrier") return undefined;
  return (definition.work as BarrierTemplate).reference;
}

const CLOSED: Barrier = { arrived: [], isOpen: false };

export const barrierAt = ({ barriers }: Pick<Run, "barriers">, reference: string): Barrier =>
  Object.hasOwn(barriers, reference) ? (barriers[reference] ?? CLOSED) : CLOSED;

/** Notes that a step has arrived at its barrier. */
export function arrive(run: Run, node: NodeState): NodeState {
  const reference = barrierOf(definitionOf(run, node));
  if (reference === undefined) throw new Error(`step ${node.path} has no barrier`);
  const barrier = barrierAt(run, reference);
  const others = barrier.arrived.filter((one) => one.node !== node.id);
  const arrived = [...others, { definition: node.definition, node: node.id }];
  run.barriers = { ...run.barriers, [reference]: { ...barrier, arrived } };
  return changeAttempt(run, node, { waitsFor: [...attemptOf(node).waitsFor, "barrier"] });
}

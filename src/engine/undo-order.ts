/** The order in which stages have ended, whatever order their nodes were read in. */
import type { NodeId, NodeState, Plan } from "./model.ts";
import { childrenOf, nodeOf } from "./plan-index.ts";

/** Stages that ended in the same event, or in the same millisecond, have the order of the document and of their loops. */
export function inOrderOfEnd(plan: Plan, stages: readonly NodeState[]): readonly NodeState[] {
  const places = placesOf(plan);
  const placeOf = ({ definition }: NodeState): number => places.get(definition) ?? 0;
  return stages.toSorted(
    (a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || placeOf(a) - placeOf(b) || byNumbers.compare(a.path, b.path),
  );
}

/** `s[2]` before `s[10]`. */
const byNumbers = new Intl.Collator("en", { numeric: true });

function placesOf(plan: Plan): ReadonlyMap<NodeId, number> {
  const places = new Map<NodeId, number>();
  const open = [plan.root];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    places.set(id, places.size);
    open.push(...childrenOf(nodeOf(plan, id)).toReversed());
  }
  return places;
}

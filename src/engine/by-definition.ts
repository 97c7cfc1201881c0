/** The instances of definitions. An event that asks for those of many must not look at all nodes for each of them. */
import type { InstanceId, NodeId, NodeState } from "./model.ts";
import { nodeAt, type Run } from "./run.ts";

type Index = { readonly ids: Map<NodeId, InstanceId[]>; created: number };

// What there was before the event is read once, and what it has created is added when it is asked for.
const known = new WeakMap<Run, Index>();

export const instancesOf = (run: Run, definitions: readonly NodeId[]): readonly NodeState[] => {
  const { ids } = indexOf(run);
  return definitions.flatMap((definition) => ids.get(definition) ?? []).map((id) => nodeAt(run, id));
};

function indexOf(run: Run): Index {
  const index = known.get(run) ?? { ids: new Map<NodeId, InstanceId[]>(), created: -1 };
  known.set(run, index);
  if (index.created < 0) {
    for (const node of run.before.nodes.values()) add(index, node);
    index.created = 0;
  }
  for (; index.created < run.created.length; index.created += 1)
    add(index, nodeAt(run, run.created[index.created] ?? ""));
  return index;
}

function add({ ids }: Index, { id, definition }: NodeState): void {
  const found = ids.get(definition);
  if (found) found.push(id);
  else ids.set(definition, [id]);
}

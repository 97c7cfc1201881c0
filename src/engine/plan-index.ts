import type { NodeId, Plan, PlanNode } from "./model.ts";

/** Where nodes stand in `Plan.context`, as a tree of path parts. */
export type PlanPlace = { readonly children: ReadonlyMap<string, PlanPlace>; readonly node: NodeId | null };

export type PlanIndex = {
  readonly parents: ReadonlyMap<NodeId, NodeId>;
  /** Built at the first expression of a plan; most events need none. */
  readonly places: () => PlanPlace;
};

// A plan never changes, so what follows from it is computed once for as long as it is held.
const known = new WeakMap<Plan, PlanIndex>();

export function indexOf(plan: Plan): PlanIndex {
  const found = known.get(plan);
  if (found) return found;
  let places: PlanPlace | undefined;
  const index = { parents: parentsOf(plan), places: () => (places ??= placesOf(plan)) };
  known.set(plan, index);
  return index;
}

/** The plan's node of that id; throws when the plan has none, which is a fault of its maker. */
export function nodeOf(plan: Plan, id: NodeId): PlanNode {
  const node = Object.hasOwn(plan.nodes, id) ? plan.nodes[id] : undefined;
  if (!node) throw new Error(`the plan has no node ${id}`);
  return node;
}

/** The definitions directly below, in the order in which they would run. */
export function childrenOf(node: PlanNode): readonly NodeId[] {
  switch (node.kind) {
    case "pipeline":
    case "parallel":
      return node.children;
    case "group":
      return node.rollback === undefined ? node.children : [...node.children, node.rollback];
    case "stage":
      return node.rollback === undefined ? [node.steps] : [node.steps, node.rollback];
    case "loop":
      return [node.body];
    case "step":
      return [];
  }
}

/** The definitions around a node, from its parent to the root. */
export function* ancestorsOf(plan: Plan, id: NodeId): Generator<PlanNode> {
  const { parents } = indexOf(plan);
  for (let at = parents.get(id); at !== undefined; at = parents.get(at)) yield nodeOf(plan, at);
}

/** Walks the tree from the root; throws when it is no tree, so that no walk can run in a circle. */
function parentsOf(plan: Plan): ReadonlyMap<NodeId, NodeId> {
  const parents = new Map<NodeId, NodeId>();
  const open: NodeId[] = [plan.root];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const child of childrenOf(nodeOf(plan, id))) {
      if (parents.has(child) || child === plan.root) throw new Error(`the plan reaches node ${child} twice`);
      parents.set(child, id);
      open.push(child);
    }
  }
  return parents;
}

type OpenPlace = { readonly children: Map<string, OpenPlace>; node: NodeId | null };

function placesOf(plan: Plan): PlanPlace {
  const root: OpenPlace = { children: new Map(), node: null };
  for (const node of Object.values(plan.nodes)) {
    // They have no place of their own: what stands in a list or is repeated has one.
    if (node.kind === "parallel" || node.kind === "loop") continue;
    let place = root;
    for (const part of node.path) {
      const next: OpenPlace = place.children.get(part) ?? { children: new Map(), node: null };
      place.children.set(part, next);
      place = next;
    }
    place.node = node.id;
  }
  return root;
}

import type { NodeId, Plan, PlanContext, PlanNode } from "./model.ts";

/** Where the nodes of a pipeline stand in its context, as a tree of path parts. */
export type PlanPlace = { readonly children: ReadonlyMap<string, PlanPlace>; readonly node: NodeId | null };

export type PlanIndex = {
  readonly parents: ReadonlyMap<NodeId, NodeId>;
  /** Those of the nodes of a pipeline. Built at the first expression of a plan; most events need none. */
  readonly places: (pipeline: NodeId) => PlanPlace;
};

// A plan never changes, so what follows from it is computed once for as long as it is held.
const known = new WeakMap<Plan, PlanIndex>();

export function indexOf(plan: Plan): PlanIndex {
  const found = known.get(plan);
  if (found) return found;
  let places: ReadonlyMap<NodeId, PlanPlace> | undefined;
  const parents = parentsOf(plan);
  const index = {
    parents,
    places: (pipeline: NodeId) => (places ??= placesOf(plan, parents)).get(pipeline) ?? NO_PLACE,
  };
  known.set(plan, index);
  return index;
}

const NO_PLACE: PlanPlace = { children: new Map(), node: null };

/** The pipeline that a node belongs to: the nearest one around it, or the node itself. */
export function pipelineOf(plan: Plan, id: NodeId): NodeId {
  const { parents } = indexOf(plan);
  let at: NodeId = id;
  while (nodeOf(plan, at).kind !== "pipeline") at = parents.get(at) ?? plan.root;
  return at;
}

/** What the expressions of a pipeline's nodes see beside results. */
export const contextOfPipeline = (plan: Plan, pipeline: NodeId): PlanContext =>
  plan.chained?.[pipeline] ?? plan.context;

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

function placesOf(plan: Plan, parents: ReadonlyMap<NodeId, NodeId>): ReadonlyMap<NodeId, PlanPlace> {
  const roots = new Map<NodeId, OpenPlace>();
  const pipelines = new Map<NodeId, NodeId>();
  const pipelineAround = (id: NodeId): NodeId => {
    const parent = parents.get(id);
    const isOwn = parent === undefined || nodeOf(plan, id).kind === "pipeline";
    const found = pipelines.get(id) ?? (isOwn ? id : pipelineAround(parent));
    pipelines.set(id, found);
    return found;
  };
  for (const node of Object.values(plan.nodes)) {
    // They have no place of their own: what stands in a list or is repeated has one.
    if (node.kind === "parallel" || node.kind === "loop") continue;
    const pipeline = pipelineAround(node.id);
    let place: OpenPlace = roots.get(pipeline) ?? { children: new Map(), node: null };
    roots.set(pipeline, place);
    for (const part of node.path) {
      const next: OpenPlace = place.children.get(part) ?? { children: new Map(), node: null };
      place.children.set(part, next);
      place = next;
    }
    place.node = node.id;
  }
  return roots;
}

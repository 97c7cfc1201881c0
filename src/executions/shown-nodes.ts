/**
 * The nodes of an execution as readers see them: the instances that were reached, in the order of the plan, and the places
 * of the plan that were not. A place below a node that has ended is skipped. What a loop repeats is not known before it
 * begins, so that its body is one place until then.
 */
import {
  childrenOf,
  instanceOf,
  isFinal,
  type InstanceId,
  type Iteration,
  type NodeId,
  type NodeState,
  type Plan,
  type PlanNode,
  type State,
} from "../engine/index.ts";

export type ShownNode = {
  readonly id: InstanceId;
  readonly definition: PlanNode;
  /** Queued or skipped for a place that was not reached. */
  readonly state: NodeState;
  readonly isReached: boolean;
  /** Those of its present attempt, in their order. */
  readonly children: readonly InstanceId[];
  /** Children of earlier attempts, by the number of the attempt. */
  readonly earlier: ReadonlyMap<number, readonly InstanceId[]>;
  readonly next: InstanceId | undefined;
};

export type ShownNodes = ReadonlyMap<InstanceId, ShownNode>;

type Execution = {
  readonly plan: Plan;
  readonly state: State;
  readonly nodes: ReadonlyMap<InstanceId, NodeState>;
};

type Walk = Execution & {
  readonly byParent: ReadonlyMap<InstanceId | null, readonly NodeState[]>;
  /** Instances and places by id. */
  readonly known: Map<InstanceId, NodeState>;
  readonly shown: Map<InstanceId, ShownNode>;
};

/** Where a child stands: reached or not. */
type Place = { readonly definition: NodeId; readonly iteration?: Iteration; readonly hasNext: boolean };

export function shownNodes(execution: Execution): ShownNodes {
  const { plan, nodes } = execution;
  const walk: Walk = {
    ...execution,
    byParent: Map.groupBy(nodes.values(), ({ parent }) => parent),
    known: new Map(nodes),
    shown: new Map(),
  };
  if (Object.hasOwn(plan.nodes, plan.root)) show(walk, nodes.get(plan.root) ?? rootPlace(execution), undefined);
  return walk.shown;
}

function show(walk: Walk, state: NodeState, next: InstanceId | undefined): void {
  const definition = walk.plan.nodes[state.definition];
  if (!definition) return;
  const places = placesBelow(definition, state).map((place) => placed(walk, state, place));
  const others = othersBelow(walk, state, new Set(places.map(({ child }) => child.id)));
  const children = [...places.map(({ child }) => child), ...others.present];
  walk.shown.set(state.id, {
    id: state.id,
    definition,
    state,
    isReached: walk.nodes.has(state.id),
    children: children.map(({ id }) => id),
    earlier: others.earlier,
    next,
  });
  for (const [nth, { child, hasNext }] of places.entries())
    show(walk, child, hasNext ? places[nth + 1]?.child.id : undefined);
  for (const child of others.all) show(walk, child, undefined);
}

/** The children that a node has by its definition; of a loop by its iterations. */
function placesBelow(definition: PlanNode, { progress }: NodeState): readonly Place[] {
  switch (definition.kind) {
    case "loop": {
      const { iterations } = progress ?? {};
      if (!iterations) return [{ definition: definition.body, hasNext: false }];
      return iterations.map((iteration) => ({ definition: definition.body, iteration, hasNext: false }));
    }
    case "pipeline":
    case "group": {
      const { children } = definition;
      return childrenOf(definition).map((id, nth) => ({ definition: id, hasNext: nth + 1 < children.length }));
    }
    case "parallel":
    case "stage":
    case "step":
      return childrenOf(definition).map((id) => ({ definition: id, hasNext: false }));
  }
}

type Placed = { readonly child: NodeState; readonly hasNext: boolean };

function placed({ plan, known }: Walk, parent: NodeState, { definition, iteration, hasNext }: Place): Placed {
  const find = (id: InstanceId): NodeState | undefined => known.get(id);
  const { id, path } = instanceOf(plan, find, { definition, parent: parent.id, ...(iteration && { iteration }) });
  const reached = known.get(id);
  if (reached) return { child: reached, hasNext };
  const child = { ...placeBelow(parent), id, path, definition, parent: parent.id, iteration: iteration ?? null };
  known.set(id, child);
  return { child, hasNext };
}

/** Instances below a node that have no place there: of its earlier attempts, and what undoes stages. */
function othersBelow({ byParent }: Walk, { id, path, attempts }: NodeState, places: ReadonlySet<InstanceId>) {
  const all = (byParent.get(id) ?? []).filter((child) => !places.has(child.id));
  const attemptOf = (child: NodeState): number => {
    const [, number] = /^@(\d+)\//.exec(child.path.slice(path.length)) ?? [];
    return number === undefined ? 1 : Number(number);
  };
  const present = all.filter((child) => attemptOf(child) === Math.max(1, attempts.length));
  const before = all.filter((child) => !present.includes(child));
  const earlier = new Map(
    [...Map.groupBy(before, attemptOf)].map(([number, children]) => [number, children.map((child) => child.id)]),
  );
  return { all, present, earlier };
}

const NOT_REACHED = {
  ...{ reason: null, startedAt: null, failure: null, attempts: [], tasks: 0, stopping: null },
  ...{ progress: null, isReused: false, holdsLocks: false, recovery: null },
} as const;

/** What was not reached below a node that has ended never will be. */
const placeBelow = ({ status, endedAt }: NodeState) =>
  isFinal(status)
    ? { ...NOT_REACHED, status: "skipped" as const, endedAt }
    : { ...NOT_REACHED, status: "queued" as const, endedAt: null };

/** An execution whose nodes cannot be read has a root all the same. */
const rootPlace = ({ plan, state: { status, startedAt, endedAt, failure } }: Execution): NodeState => ({
  ...NOT_REACHED,
  ...(isFinal(status) ? { status, startedAt, endedAt, failure } : { status: "queued", endedAt: null }),
  id: plan.root,
  definition: plan.root,
  parent: null,
  path: plan.nodes[plan.root]?.identifier ?? "",
  iteration: null,
});

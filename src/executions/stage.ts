/** What lists show of the stages of a run. It is stored beside plan and state, which lists do not read. */
import {
  asksOf,
  childrenOf,
  isFinal,
  unreachable,
  type Failure,
  type InstanceId,
  type Json,
  type Nodes,
  type NodeState,
  type Plan,
  type PlanNode,
  type State,
  type Status,
} from "../engine/index.ts";
import type { Uuid } from "../core/ids.ts";

/** Null for a value that is too long for lists. */
export type StageVariable = { readonly name: string; readonly value: string | null };

/** A stage as the plan has it. */
export type Stage = {
  /** The id of its node. */
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly type: string;
  /** Without secrets. */
  readonly variables: readonly StageVariable[];
  /** The node of those that run at the same time as this stage, and of itself. */
  readonly parallel?: Uuid;
  /** It, or a node below it, asks for inputs. */
  readonly asks?: true;
};

export type StageState = Pick<NodeState, "status" | "startedAt" | "endedAt" | "failure">;

/** The states of the stages that were reached, by id, and what the run had become when they were stored. */
export type StageStates = {
  readonly status: Status;
  readonly failure: Failure | null;
  readonly nodes: { readonly [id: string]: StageState };
};

/** Characters of one value. Values may come from payloads, and lists hold a thousand runs. */
const LONGEST_VALUE = 1_024;
/** Characters of all names and values of a run; once they are used up, values are left out. */
const ALL_VALUES = 16 * 1_024;

/** The stages of a plan in their order, also those that are never reached. One that is looped is there once. */
export function stagesOf(plan: Plan): readonly Stage[] {
  let left = ALL_VALUES;
  const shortened = ([name, value]: readonly [string, Json]): StageVariable => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    left -= name.length;
    if (text.length > LONGEST_VALUE || text.length > left) return { name, value: null };
    left -= text.length;
    return { name, value: text };
  };
  return placesOf(plan).map(({ node, parallel }) => {
    const stage = node.kind === "loop" ? (plan.nodes[node.body] ?? node) : node;
    const variables = Object.entries(variablesOf(plan, stage.identifier)).map(shortened);
    const { identifier, name } = stage;
    const asks = asksBelow(plan, node.id) && { asks: true as const };
    return {
      id: node.id as Uuid,
      identifier,
      name,
      type: typeOf(node),
      variables,
      ...(parallel && { parallel }),
      ...asks,
    };
  });
}

function asksBelow(plan: Plan, id: string): boolean {
  const node = plan.nodes[id];
  if (!node) return false;
  return asksOf(node) !== undefined || childrenOf(node).some((child) => asksBelow(plan, child));
}

/** A stage, or the loop that repeats it, and the parallel node that it stands in. */
type StagePlace = { readonly node: PlanNode; readonly parallel: Uuid | undefined };

function placesOf(plan: Plan): readonly StagePlace[] {
  const root = plan.nodes[plan.root];
  const below = (ids: readonly string[], parallel: Uuid | undefined): readonly StagePlace[] =>
    ids.flatMap((id) => {
      const node = plan.nodes[id];
      if (node?.kind === "parallel") return below(node.children, node.id as Uuid);
      return node ? [{ node, parallel }] : [];
    });
  return root?.kind === "pipeline" ? below(root.children, undefined) : [];
}

/** The word of the REST family for a kind of node. */
export function typeOf(node: PlanNode): string {
  switch (node.kind) {
    case "pipeline":
      return "PIPELINE_SECTION";
    case "group":
      return node.role === "stepGroup" ? "STEP_GROUP" : "NG_SECTION";
    case "parallel":
      return "FORK";
    case "loop":
      return node.strategy.type === "matrix" ? "MATRIX" : "LOOP";
    case "stage":
    case "step":
      return node.type;
    default:
      return unreachable(node);
  }
}

type ListPlaces = { readonly ids: readonly string[]; readonly shown: ReadonlySet<string> };

// A plan never changes, and each event asks.
const known = new WeakMap<Plan, ListPlaces>();

function listPlacesOf(plan: Plan): ListPlaces {
  const found = known.get(plan);
  if (found) return found;
  const ids = placesOf(plan).map(({ node }) => node.id);
  const places = { ids, shown: new Set([plan.root, ...ids]) };
  known.set(plan, places);
  return places;
}

/** The ids of the stages' nodes in their order. */
export const stageIdsOf = (plan: Plan): readonly string[] => listPlacesOf(plan).ids;

/** Whether lists show what becomes of this node. */
export const isInLists = (plan: Plan, id: InstanceId): boolean => listPlacesOf(plan).shown.has(id);

export const isSameState = (a: StageState, b: StageState): boolean =>
  a.status === b.status && a.startedAt === b.startedAt && a.endedAt === b.endedAt && a.failure === b.failure;

/** A stage that was not reached when the run ended is skipped. */
export function stageStatesOf(
  state: Pick<State, "status" | "failure" | "endedAt">,
  nodes: { readonly get: (id: InstanceId) => StageState | undefined },
  stageIds: readonly string[],
): StageStates {
  const skipped: StageState = { status: "skipped", startedAt: null, endedAt: state.endedAt, failure: null };
  const reached = stageIds.flatMap((id): [string, StageState][] => {
    const node = nodes.get(id) ?? (isFinal(state.status) ? skipped : undefined);
    if (!node) return [];
    const { status, startedAt, endedAt, failure } = node;
    return [[id, { status, startedAt, endedAt, failure }]];
  });
  return { status: state.status, failure: state.failure, nodes: Object.fromEntries(reached) };
}

/** The same as the column has it. */
export function storedStates(state: State, nodes: Pick<Nodes, "get">, plan: Plan): string {
  const stageIds = stageIdsOf(plan);
  return JSON.stringify(packStates(stageStatesOf(state, nodes, stageIds), stageIds));
}

/**
 * The stages as a column of the run has them: without keys, since the row is rewritten with each change and should leave
 * room in its page.
 */
export type StoredStages = readonly (readonly [
  ...(readonly [id: Uuid, identifier: string, name: string, type: string]),
  variables: readonly (readonly [name: string, value: string | null])[],
  parallel?: Uuid | null,
  asks?: true,
])[];

type StoredState = readonly [Status, startedAt: number | null, endedAt: number | null, Failure | null];

/** The same for their states, in the order of the stages; null for a stage that was not reached. */
export type StoredStates = readonly [Status, Failure | null, readonly (StoredState | null)[]];

export const packStages = (stages: readonly Stage[]): StoredStages =>
  stages.map(({ id, identifier, name, type, variables: given, parallel, asks }) => {
    const variables = given.map((variable) => [variable.name, variable.value] as const);
    if (asks) return [id, identifier, name, type, variables, parallel ?? null, asks];
    return parallel ? [id, identifier, name, type, variables, parallel] : [id, identifier, name, type, variables];
  });

export const unpackStages = (stored: StoredStages): readonly Stage[] =>
  stored.map(([id, identifier, name, type, variables, parallel, asks]) => ({
    ...{ id, identifier, name, type },
    variables: variables.map(([variable, value]) => ({ name: variable, value })),
    ...(parallel && { parallel }),
    ...(asks && { asks }),
  }));

export const packStates = ({ status, failure, nodes }: StageStates, stageIds: readonly string[]): StoredStates => [
  status,
  failure,
  stageIds.map((id) => {
    const node = nodes[id];
    return node ? ([node.status, node.startedAt, node.endedAt, node.failure] as const) : null;
  }),
];

export function unpackStates([status, failure, states]: StoredStates, stageIds: readonly string[]): StageStates {
  const reached = stageIds.flatMap((id, at): [string, StageState][] => {
    const stored = states[at];
    if (!stored) return [];
    const [now, startedAt, endedAt, why] = stored;
    return [[id, { status: now, startedAt, endedAt, failure: why }]];
  });
  return { status, failure, nodes: Object.fromEntries(reached) };
}

/** The greatest id of a node: ids grow, so that the nodes of a run lie between it and the run's own id. */
export const lastNodeOf = (plan: Plan): string =>
  Object.keys(plan.nodes).reduce((last, id) => (id > last ? id : last), plan.root);

type JsonObject = { readonly [key: string]: Json };

const variablesOf = ({ context }: Plan, stage: string): JsonObject =>
  ["pipeline", "stages", stage, "variables"].reduce((value, key) => member(value, key), context);

function member(value: JsonObject, key: string): JsonObject {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as JsonObject) : {};
}

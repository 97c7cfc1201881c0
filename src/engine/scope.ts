import { jsonPlace, keysOf, own, type Place, type Scope } from "./expression/place.ts";
import { infraRoots } from "./infra.ts";
import type { Json, NodeId, NodeState, Plan, PlanNode } from "./model.ts";
import { indexOf, nodeOf, type PlanPlace } from "./plan-index.ts";
import { expressionStatus, isFinal } from "./status.ts";

type NodeStates = (id: NodeId) => NodeState | undefined;

/**
 * What the roots of paths mean for one node: the plan's context, made by
 * `contextOf` (src/pipelines/document/context.ts) when the execution starts.
 * Where a path passes a node of the execution, the results of that node
 * (`status`, `currentStatus`, `startTs`, `endTs`; a step also has
 * `retryCount` and `output.outputVariables`) have precedence.
 *
 * Rendering a whole object gives its document alone, without results inside.
 */
export function scopeFor(plan: Plan, states: NodeStates, id: NodeId): Scope {
  const world = contextPlace(plan, states, plan.context, indexOf(plan).places());
  const paths = aliasesOf(plan, id);
  const stage = paths.get("stage");
  const scope: Scope = {
    root(name) {
      const path = paths.get(name);
      return infra(name) ?? (path ? followed(world, path) : world.member(name));
    },
  };
  const infra = infraRoots(stage && followed(world, stage)?.value, scope);
  return scope;
}

/** The short names that stand for a path from the node's own place. */
function aliasesOf(plan: Plan, id: NodeId): ReadonlyMap<string, readonly string[]> {
  const aliases = new Map<string, readonly string[]>();
  const { parents } = indexOf(plan);
  for (let at: NodeId | undefined = id; at !== undefined; at = parents.get(at)) {
    const node = nodeOf(plan, at);
    if (node.kind === "step") aliases.set("step", node.path);
    if (node.kind !== "stage") continue;
    aliases.set("stage", node.path);
    aliases.set("execution", [...node.path, "spec", "execution"]);
    aliases.set("steps", [...node.path, "spec", "execution", "steps"]);
  }
  return aliases;
}

function followed(from: Place, path: readonly string[]): Place | undefined {
  let place: Place | undefined = from;
  for (const part of path) place = place?.member(part);
  return place;
}

function contextPlace(plan: Plan, states: NodeStates, value: Json, place: PlanPlace | undefined): Place {
  const node = place?.node === undefined || place.node === null ? undefined : nodeOf(plan, place.node);
  const results = node ? resultsOf(node, states(node.id)) : undefined;
  return {
    value,
    member(key) {
      const result = typeof key === "string" ? results?.get(key) : undefined;
      if (result?.there) return jsonPlace(result.value);
      const found = own(value, key);
      return found === undefined ? undefined : contextPlace(plan, states, found, placeBelow(place, key));
    },
    keys: () => [
      ...new Set([...keysOf(value), ...[...(results ?? [])].filter(([, r]) => r.there).map(([key]) => key)]),
    ],
    notYet(key) {
      const result = typeof key === "string" ? results?.get(key) : undefined;
      return result && !result.there ? result.why : undefined;
    },
  };
}

const placeBelow = (place: PlanPlace | undefined, key: string | number): PlanPlace | undefined =>
  typeof key === "string" ? place?.children.get(key) : undefined;

type Result = { readonly there: true; readonly value: Json } | { readonly there: false; readonly why: string };

function resultsOf(node: PlanNode, state: NodeState | undefined): ReadonlyMap<string, Result> {
  const subject = `${node.kind} '${node.identifier}'`;
  const after = (value: Json | undefined, why: string): Result =>
    value === undefined || value === null ? { there: false, why: `${subject} ${why}` } : { there: true, value };
  const results = new Map<string, Result>([
    ["status", after(state && expressionStatus(state.status), "has not been reached yet")],
    ["currentStatus", after(state && currentStatus(state), "has not been reached yet")],
    ["startTs", after(state?.startedAt, "has not started")],
    ["endTs", after(state?.endedAt, "has not ended yet")],
  ]);
  if (node.kind !== "step") return results;
  results.set("retryCount", after(state && state.attempt - 1, "has not been reached yet"));
  return results.set("output", after(outputOf(state), "has not ended yet, so it has no output"));
}

/** A node that still runs but has a failure behind it, as a stage that rolls back, counts as failed already. */
const currentStatus = (state: NodeState): string =>
  isFinal(state.status) || state.failure === null ? expressionStatus(state.status) : "FAILED";

function outputOf(state: NodeState | undefined): Json | undefined {
  if (!state || !isFinal(state.status)) return undefined;
  // fromEntries defines own properties, whatever a script calls its variables.
  return { outputVariables: Object.fromEntries(state.outputs.map(({ name, value }) => [name, value])) };
}

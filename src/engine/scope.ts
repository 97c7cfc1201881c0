import { jsonPlace, keysOf, own, type Place, type Scope } from "./expression/place.ts";
import { INPUT_ROOT } from "./expression/roots.ts";
import { placeOfOutput } from "./expression/secret-outputs.ts";
import { aliasesOf } from "./aliases.ts";
import { exportedPlace } from "./exports.ts";
import { INFRA_ROOTS, infraRoots } from "./infra.ts";
import { submittedAround, submittedVariables } from "./inputs.ts";
import { type FindNode, instanceOf } from "./instance.ts";
import { isPassedOver } from "./locate.ts";
import type { InstanceId, Json, NodeId, NodeState, Plan, PlanNode } from "./model.ts";
import {
  ancestorsOf,
  childrenOf,
  contextOfPipeline,
  indexOf,
  nodeOf,
  pipelineOf,
  type PlanPlace,
} from "./plan-index.ts";
import { expressionStatus, isFinal } from "./status.ts";
import { TARGET_ROOTS, targetOf } from "./targets.ts";

/**
 * What the roots of paths mean for one node: the plan's context, made by
 * `contextOf` (src/pipelines/document/context.ts) when the execution starts.
 * Where a path passes a node of the execution, the results of that node
 * (`status`, `currentStatus`, `startTs`, `endTs`; a step also has
 * `retryCount` and `output.outputVariables`) have precedence. Of a repeated node the path leads to the nearest instance;
 * `steps.test_1` names one.
 *
 * Rendering a whole object gives its document alone, without results inside. `id` is an instance, or a definition that
 * was not reached.
 */
export function scopeFor(plan: Plan, find: FindNode, id: InstanceId): Scope {
  const view: View = { plan, find, chain: chainOf(find, id) };
  const definition = find(id)?.definition ?? id;
  const pipeline = pipelineOf(plan, definition);
  const context = { value: contextOfPipeline(plan, pipeline), place: indexOf(plan).places(pipeline) };
  const world = contextPlace(view, { ...context, picked: NOTHING_PICKED });
  const paths = aliasesOf(plan, definition);
  const stage = paths.get("stage");
  const scope: Scope = {
    root(name) {
      const looped = loopRoot(view, name);
      if (looped !== undefined) return jsonPlace(looped);
      if (name === INPUT_ROOT) return jsonPlace(submittedAround(view.chain));
      if (name === "approval") return jsonPlace(lastApproval(view, definition) ?? NO_APPROVAL);
      if (name === "exportedVariables") return exportedPlace(view, view.chain.values());
      const path = paths.get(name);
      return (
        (INFRA_ROOTS.has(name) ? ofInfrastructure(name) : undefined) ??
        (TARGET_ROOTS.has(name) ? targetOf(world, stageDocument(), name) : undefined) ??
        (path ? followed(world, path) : world.member(name))
      );
    },
  };
  // Most expressions ask for none of it.
  let infra: ReturnType<typeof infraRoots> | undefined;
  const ofInfrastructure = (name: string) => (infra ??= infraRoots(stageDocument(), scope))(name);
  const stageDocument = () => stage && followed(world, stage)?.value;
  return scope;
}

type View = {
  readonly plan: Plan;
  readonly find: FindNode;
  /** The node and what stands around it, by definition. */
  readonly chain: ReadonlyMap<NodeId, NodeState>;
};

function chainOf(find: FindNode, id: InstanceId): ReadonlyMap<NodeId, NodeState> {
  const chain = new Map<NodeId, NodeState>();
  for (let at = find(id); at; at = aroundOf(find, at)) chain.set(at.definition, at);
  return chain;
}

/** The parent; of what a pipeline runs to undo a stage, the stage. */
function aroundOf(find: FindNode, { parent: id, path }: NodeState): NodeState | undefined {
  const parent = id === null ? undefined : find(id);
  const [, label] = (parent?.progress?.undo && UNDOING.exec(path)) ?? [];
  const undone = label === undefined ? undefined : parent?.progress?.undo?.find((stage) => find(stage)?.path === label);
  return undone === undefined ? parent : find(undone);
}

/** The end of the path of what undoes a stage: the path of the stage. */
const UNDOING = /\/[^/(]*\((.*)\)(?:\[\d+\])?$/;

/** `matrix`, `repeat` and `strategy` of the nearest iteration in the pipeline of the node. */
function loopRoot({ plan, chain }: View, name: string): Json | undefined {
  for (const [definition, node] of chain) {
    if (nodeOf(plan, definition).kind === "pipeline") return undefined;
    const found = node.iteration ? iterationValues(node).get(name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function iterationValues({ iteration }: Pick<NodeState, "iteration">): ReadonlyMap<string, Json> {
  if (!iteration) return new Map();
  const { index, total, postfix, matrix, item, partition } = iteration;
  return new Map<string, Json>([
    ["strategy", { iteration: index, iterations: total, identifierPostFix: postfix }],
    ...(matrix === undefined ? [] : [["matrix", matrix] as const]),
    ...(item === undefined && partition === undefined
      ? []
      : [["repeat", { item: item ?? null, partition: partition ?? null, index }] as const]),
  ]);
}

function followed(from: Place, path: readonly string[]): Place | undefined {
  let place: Place | undefined = from;
  for (const part of path) place = place?.member(part);
  return place;
}

/** The iterations that a path has named, by the definition that is repeated. */
type Picked = ReadonlyMap<NodeId, string>;
const NOTHING_PICKED: Picked = new Map();

type Spot = { readonly value: Json; readonly place: PlanPlace | undefined; readonly picked: Picked };

function contextPlace(view: View, { value, place, picked }: Spot): Place {
  const definition = place?.node === undefined || place.node === null ? undefined : nodeOf(view.plan, place.node);
  const results = definition ? resultsOf(definition, nearest(view, definition.id, picked), value) : undefined;
  return {
    value,
    member(key) {
      const result = typeof key === "string" ? results?.get(key) : undefined;
      if (result?.there) return result.place ?? jsonPlace(result.value);
      const found = own(value, key);
      if (found !== undefined) return contextPlace(view, { value: found, place: placeBelow(place, key), picked });
      const one = typeof key === "string" ? iterationOf(view, { value, place, picked }, key) : undefined;
      return one && contextPlace(view, one);
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

const POSTFIX = /^(.+?)((?:_\d+)+)$/;

/** `test_1` where only `test` is in the document: the second iteration of it. */
function iterationOf(view: View, { value, place, picked }: Spot, key: string): Spot | undefined {
  const [, name, postfix] = POSTFIX.exec(key) ?? [];
  const found = name === undefined ? undefined : own(value, name);
  if (name === undefined || postfix === undefined || found === undefined) return undefined;
  const below = placeBelow(place, name);
  if (!below?.node || loopAround(view.plan, below.node) === undefined) return undefined;
  return { value: found, place: below, picked: new Map([...picked, [below.node, postfix]]) };
}

function loopAround(plan: Plan, id: NodeId): NodeId | undefined {
  const parent = indexOf(plan).parents.get(id);
  return parent !== undefined && nodeOf(plan, parent).kind === "loop" ? parent : undefined;
}

/** What is to be said of a definition: of its nearest instance, or that it was skipped without one. */
type Found = Pick<
  NodeState,
  "status" | "startedAt" | "endedAt" | "failure" | "attempts" | "iteration" | "progress" | "inputs"
>;

/** The instance of a definition that stands nearest to the node; why there is none, for one that is repeated elsewhere. */
function nearest(
  { plan, find, chain }: View,
  id: NodeId,
  picked: Picked,
): Found | { readonly why: string } | undefined {
  const { parents } = indexOf(plan);
  const down: NodeId[] = [];
  let from: NodeId | undefined = id;
  for (; from !== undefined && (!chain.has(from) || picked.has(from)); from = parents.get(from)) down.push(from);
  let at = from === undefined ? find(plan.root) : chain.get(from);
  if (from === undefined) down.pop();
  for (const definition of down.toReversed()) {
    if (!at) return undefined;
    const iterations = loopAround(plan, definition) === undefined ? undefined : (at.progress?.iterations ?? []);
    const postfix = picked.get(definition);
    const iteration =
      iterations?.length === 1 && postfix === undefined
        ? iterations[0]
        : iterations?.find((one) => one.postfix === postfix);
    if (iterations && !iteration) {
      const { identifier } = nodeOf(plan, definition);
      return { why: `is repeated: name one of its instances, as ${identifier}_0` };
    }
    const child = { definition, parent: at.id, ...(iteration && { iteration }) };
    const found = find(instanceOf(plan, find, child).id);
    if (!found) return isPassedOver(plan, at, definition) ? { ...SKIPPED, endedAt: at.endedAt } : undefined;
    at = found;
  }
  return at;
}

const SKIPPED = {
  status: "skipped",
  startedAt: null,
  failure: null,
  attempts: [],
  iteration: null,
  progress: null,
} as const;

const NO_APPROVAL = { approvalActivities: [], approverInputs: {} };

/** `approval`: the output of the last step with approval activities among those that come before the node. */
function lastApproval(view: View, id: NodeId): Json | undefined {
  let below = id;
  for (const around of ancestorsOf(view.plan, id)) {
    if (nodeOf(view.plan, below).kind === "pipeline") break;
    const siblings = around.kind === "parallel" ? [] : childrenOf(around);
    for (const child of siblings.slice(0, siblings.indexOf(below)).toReversed()) {
      const found = lastApprovalIn(view, child);
      if (found !== undefined) return found;
    }
    below = around.id;
  }
  return undefined;
}

function lastApprovalIn(view: View, id: NodeId): Json | undefined {
  const definition = nodeOf(view.plan, id);
  if (definition.kind === "step") {
    const found = nearest(view, id, NOTHING_PICKED);
    const output = found && "attempts" in found ? found.attempts.at(-1)?.output : null;
    return output && Object.hasOwn(output, "approvalActivities") ? output : undefined;
  }
  // A chained pipeline shows its outputs alone.
  if (definition.kind === "pipeline") return undefined;
  for (const child of childrenOf(definition).toReversed()) {
    const found = lastApprovalIn(view, child);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Result =
  | { readonly there: true; readonly value: Json; readonly place?: Place }
  | { readonly there: false; readonly why: string };

function resultsOf(
  node: PlanNode,
  found: Found | { readonly why: string } | undefined,
  document: Json,
): ReadonlyMap<string, Result> {
  const subject = `${node.kind} '${node.identifier}'`;
  const state = found && "why" in found ? undefined : found;
  const after = (value: Json | undefined, why: string): Result =>
    value === undefined || value === null
      ? { there: false, why: `${subject} ${found && "why" in found ? found.why : why}` }
      : { there: true, value };
  const results = new Map<string, Result>([
    ["status", after(state && expressionStatus(state.status), "has not been reached yet")],
    ["currentStatus", after(state && currentStatus(state), "has not been reached yet")],
    ["startTs", after(state?.startedAt, "has not started")],
    ["endTs", after(state?.endedAt, "has not ended yet")],
  ]);
  if (state) for (const [name, value] of iterationValues(state)) results.set(name, { there: true, value });
  const given = givenVariables(node, state);
  if (given) results.set("variables", { there: true, value: { ...mapOf(own(document, "variables")), ...given } });
  if (node.kind === "pipeline") return results;
  if (node.kind === "stage")
    return results.set("output", after(stageOutputOf(state), "has no outputs, or has not ended yet"));
  if (node.kind !== "step" && node.kind !== "group") return results;
  results.set("retryCount", after(retriesOf(state), "has not been reached yet"));
  if (node.kind === "group") return results;
  const output = after(outputOf(state), "has not ended yet, so it has no output");
  return results.set(
    "output",
    output.there ? { ...output, place: placeOfOutput(output.value, state?.attempts.at(-1)?.outputs ?? []) } : output,
  );
}

const retriesOf = (state: Found | undefined): number | undefined => state && Math.max(state.attempts.length, 1) - 1;

/** Variables of a chained pipeline that its stage has evaluated, and those that were submitted for a node. */
function givenVariables(node: PlanNode, state: Found | undefined): { readonly [name: string]: Json } | undefined {
  if (node.kind !== "pipeline") return submittedVariables(node, state?.inputs);
  return node.inputs && mapOf(state?.attempts.at(-1)?.output?.["variables"]);
}

const mapOf = (value: Json | undefined): { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json })
    : {};

/** The outputs of the chained pipeline that a stage has run. */
function stageOutputOf(state: Found | undefined): Json | undefined {
  const outputs = state && isFinal(state.status) ? state.attempts.at(-1)?.outputs : undefined;
  if (!outputs || outputs.length === 0) return undefined;
  return Object.fromEntries(outputs.map(({ name, value }) => [name, value]));
}

/** A node that still runs but has a failure behind it, as a stage that rolls back, counts as failed already. */
const currentStatus = ({ status, failure, progress }: Found): string =>
  isFinal(status) || (failure === null && !progress?.failed) ? expressionStatus(status) : "FAILED";

function outputOf(state: Found | undefined): Json | undefined {
  if (!state || !isFinal(state.status)) return undefined;
  const attempt = state.attempts.at(-1);
  // fromEntries defines own properties, whatever a script calls its variables.
  const variables = Object.fromEntries((attempt?.outputs ?? []).map(({ name, value }) => [name, value]));
  return { ...attempt?.output, outputVariables: variables };
}

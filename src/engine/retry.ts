/** What a retry of an execution that has ended takes over from it, and where it may start. */
import { instanceOf } from "./instance.ts";
import type { InstanceId, LockTemplate, NodeId, NodeState, Plan, PlanNode } from "./model.ts";
import { childrenOf, indexOf, nodeOf } from "./plan-index.ts";
import { letsPass } from "./status.ts";

export type Ended = { readonly plan: Plan; readonly nodes: ReadonlyMap<InstanceId, NodeState> };

/** A stage, or the loop that repeats it. `node`: undefined if it was not reached. */
export type RetryMember = {
  readonly definition: PlanNode;
  readonly node: NodeState | undefined;
  /** The definition around it. */
  readonly parent: NodeId;
  /** It lets what follows pass, and nothing has undone it. */
  readonly hasPassed: boolean;
};

/** A stage, or the stages of a parallel list. */
export type RetryPlace = {
  readonly definition: NodeId;
  readonly node: NodeState | undefined;
  readonly members: readonly RetryMember[];
};

/** Where a retry starts. */
export type RetryStart = {
  /** Identifiers of stages of one place. Empty: the first place that has not passed. */
  readonly stages: readonly string[];
  /** Of the stages of the place only those that have not passed. */
  readonly failedOnly: boolean;
  /** A step, or step group, of the stage. Those before it in the stage are reused. */
  readonly step?: string | undefined;
};

type Fault = { readonly fault: string };

/** The places that a retry can start at; the last one is the first that has not passed. None if all have. */
export function retryPlaces(ended: Ended): readonly RetryPlace[] {
  const { plan, nodes } = ended;
  const root = plan.nodes[plan.root];
  if (root?.kind !== "pipeline") return [];
  const undone = undoneNodes(ended);
  const top = nodes.get(plan.root);
  const places = root.children.map((id) => ({
    definition: id,
    node: childNode(ended, top, id),
    members: membersAt(ended, top, id).map((member) => ({
      ...member,
      hasPassed: member.hasPassed && !undone.has(member.node?.id ?? ""),
    })),
  }));
  const first = places.findIndex(({ members }) => !members.every(({ hasPassed }) => hasPassed));
  return first === -1 ? [] : places.slice(0, first + 1);
}

/** The node at a place, or those of a parallel list. */
function membersAt(ended: Ended, around: NodeState | undefined, id: NodeId): readonly RetryMember[] {
  const definition = nodeOf(ended.plan, id);
  const node = childNode(ended, around, id);
  if (definition.kind === "parallel") return definition.children.flatMap((child) => membersAt(ended, node, child));
  const parent = indexOf(ended.plan).parents.get(id) ?? ended.plan.root;
  return [{ definition, node, parent, hasPassed: node !== undefined && letsPass(node.status) }];
}

function childNode({ plan, nodes }: Ended, parent: NodeState | undefined, definition: NodeId): NodeState | undefined {
  if (!parent) return undefined;
  return nodes.get(instanceOf(plan, (id) => nodes.get(id), { definition, parent: parent.id }).id);
}

/** The stages that a rollback of the pipeline has undone or was to undo, with what stands around them. */
function undoneNodes({ plan, nodes }: Ended): ReadonlySet<InstanceId> {
  const undone = new Set<InstanceId>();
  for (const stage of nodes.get(plan.root)?.progress?.undo ?? [])
    for (let id: InstanceId | null = stage; id !== null; id = nodes.get(id)?.parent ?? null) undone.add(id);
  return undone;
}

/** The nodes that are not run again, with all that is below them. */
export function nodesToReuse(ended: Ended, start: RetryStart): readonly NodeState[] | Fault {
  const places = retryPlaces(ended);
  const at = placeOf(places, start);
  if (typeof at !== "number") return at;
  const { members = [] } = places[at] ?? {};
  const again = members.filter((member) => runsAgain(member, start));
  if (again.length === 0) return { fault: `none of the stages [${start.stages.join(", ")}] has failed` };
  const steps = start.step === undefined ? [] : stepsBefore(ended, again, start.step);
  if ("fault" in steps) return steps;
  const beside = members.filter((member) => !again.includes(member));
  const tops = [...places.slice(0, at), ...beside].flatMap(({ node }) => node ?? []);
  const byParent = Map.groupBy(ended.nodes.values(), ({ parent }) => parent);
  return concatenated([
    ...tops.map((top) => withoutLocks({ plan: ended.plan, byParent, ends: ["pipeline"] }, top)),
    ...steps.map((top) => withoutLocks({ plan: ended.plan, byParent, ends: ["stage", "pipeline"] }, top)),
  ]);
}

function concatenated(parts: readonly (readonly NodeState[] | Fault)[]): readonly NodeState[] | Fault {
  const fault = parts.find((part) => "fault" in part);
  return fault ?? parts.flatMap((part) => ("fault" in part ? [] : part));
}

function placeOf(places: readonly RetryPlace[], { stages }: RetryStart): number | Fault {
  if (places.length === 0) return { fault: "none of its stages has failed" };
  const [first] = stages;
  if (first === undefined) return places.length - 1;
  const at = places.findIndex(({ members }) => members.some((member) => isNamed(member, [first])));
  const others = stages.filter((stage) => !places[at]?.members.some((member) => isNamed(member, [stage])));
  if (others.length === 0) return at;
  const possible = places.map(({ members }) => members.map(({ definition }) => definition.identifier).join(" and "));
  const which = at === -1 ? `at stage '${first}'` : `at stages [${stages.join(", ")}] together`;
  return { fault: `it cannot start ${which}; it can start at ${possible.join(", or at ")}` };
}

const isNamed = ({ definition }: RetryMember, stages: readonly string[]): boolean =>
  stages.includes(definition.identifier);

/** What has not passed runs again in any case. */
const runsAgain = (member: RetryMember, { stages, failedOnly }: RetryStart): boolean =>
  !member.hasPassed || (!failedOnly && (stages.length === 0 || isNamed(member, stages)));

/** The steps and groups of a stage that stand before one of them; what stands beside it in a parallel list, if it has passed. */
function stepsBefore(ended: Ended, stages: readonly RetryMember[], step: string): readonly NodeState[] | Fault {
  const { plan } = ended;
  const [stage, second] = stages;
  if (!stage || second) return { fault: `name one stage, and step '${step}' of it` };
  const { definition, node } = stage;
  const name = `stage '${definition.identifier}'`;
  if (definition.kind !== "stage") return { fault: `${name} is repeated, and starts from its beginning` };
  const steps = nodeOf(plan, definition.steps);
  if (steps.kind !== "group") return { fault: `${name} runs a pipeline, and starts from its beginning` };
  const around = childNode(ended, node, steps.id);
  if (!node || !around) return { fault: `${name} has not begun, and starts from its beginning` };
  if (node.progress?.phase === "rollback" || !isFirstTry(node) || !isFirstTry(around))
    return { fault: `${name} was rolled back or repeated, and starts from its beginning` };
  const places = steps.children.map((id) => membersAt(ended, around, id));
  const isNamedStep = (member: RetryMember): boolean => isNamed(member, [step]);
  const at = places.findIndex((members) => members.some(isNamedStep));
  if (at === -1) return { fault: `${name} has no step or step group '${step}' in its list of steps` };
  const before = places.slice(0, at).flat();
  const missing = before.find(({ hasPassed }) => !hasPassed);
  if (missing) return { fault: `'${missing.definition.identifier}' stands before '${step}' and has not succeeded` };
  const beside = places[at]?.filter((member) => member.hasPassed && !isNamedStep(member)) ?? [];
  return [...before, ...beside].flatMap((member) => member.node ?? []);
}

const isFirstTry = ({ attempts }: NodeState): boolean => attempts.length === 1;

type ByParent = ReadonlyMap<InstanceId | null, readonly NodeState[]>;

type Search = { readonly plan: Plan; readonly byParent: ByParent; readonly ends: readonly LockTemplate["until"][] };

/**
 * A node with all that is below it. A step whose lock would still be held (until one of the `ends`) asks for it again:
 * what stands around it begins, and the rest of that is reused.
 */
function withoutLocks(search: Search, top: NodeState): readonly NodeState[] | Fault {
  const { plan, byParent } = search;
  const tree = treeOf(byParent, top);
  if (!tree.some((node) => holdsLock(search, node))) return tree;
  const { kind, identifier } = nodeOf(plan, top.definition);
  if (kind === "step") return [];
  if (kind === "loop" || kind === "pipeline" || !isFirstTry(top))
    return { fault: `'${identifier}' is repeated and has taken a lock, so that it cannot be reused` };
  return concatenated((byParent.get(top.id) ?? []).map((below) => withoutLocks(search, below)));
}

function holdsLock({ plan, ends }: Search, { definition, status }: NodeState): boolean {
  const node = nodeOf(plan, definition);
  if (node.kind !== "step" || node.work.kind !== "queue" || status !== "succeeded") return false;
  return ends.includes((node.work as LockTemplate).until);
}

const treeOf = (byParent: ByParent, top: NodeState): readonly NodeState[] => [
  top,
  ...(byParent.get(top.id) ?? []).flatMap((below) => treeOf(byParent, below)),
];

/**
 * The same nodes with the definitions of another plan of the same pipeline. Undefined if that plan does not have all of
 * them where they were.
 */
export function withDefinitionsOf(nodes: readonly NodeState[], from: Plan, to: Plan): readonly NodeState[] | undefined {
  const places = new Map([...placesIn(to)].map(([id, place]) => [place, id]));
  const known = placesIn(from);
  const moved: NodeState[] = [];
  for (const node of nodes) {
    const definition = places.get(known.get(node.definition) ?? "");
    if (definition === undefined) return undefined;
    moved.push({ ...node, definition });
  }
  return moved;
}

/** Where each definition stands, from the root. */
function placesIn(plan: Plan): ReadonlyMap<NodeId, string> {
  const places = new Map<NodeId, string>();
  const open: { readonly id: NodeId; readonly around: string }[] = [{ id: plan.root, around: "" }];
  for (let at = open.pop(); at; at = open.pop()) {
    const node = nodeOf(plan, at.id);
    const place = `${at.around}/${node.kind} ${node.identifier}`;
    places.set(at.id, place);
    for (const id of childrenOf(node)) open.push({ id, around: place });
  }
  return places;
}

/**
 * What a rollback has to undo: stages and groups of which a step has begun, in any try of what is around them, and once.
 * Each try has instances of its own; those of one place have the same path but for the tries in it.
 */
import { hasBegunBelow } from "./begun.ts";
import { instancesOf } from "./by-definition.ts";
import { childOf } from "./children.ts";
import type { InstanceId, NodeState } from "./model.ts";
import { change, definitionOf, findNode, instanceAt, parentOf, type Run } from "./run.ts";
import { ancestorsOf } from "./plan-index.ts";
import { inOrderOfEnd } from "./undo-order.ts";

/** A step begins, or what an earlier execution has run is taken over: all that is around it has acted. */
export function noteActed(run: Run, node: NodeState): void {
  for (let at = parentOf(run, node); at; at = parentOf(run, at))
    if (at.hasActed !== true) change(run, at.id, { hasActed: true });
}

/** Executions of earlier versions do not note it. */
export const hasActed = (run: Run, node: NodeState): boolean => node.hasActed ?? hasBegunBelow(run, node);

/** Whether a rollback of the node is due, which has not begun yet. */
export function isToBeUndone(run: Run, node: NodeState): boolean {
  if (hasActed(run, node)) return true;
  // Most have no earlier try, and the others are searched for.
  if (!isTriedAgain(run, node)) return false;
  const { key } = placeOf(node.path);
  const { definition } = node;
  // What may have undone it stands around it.
  const nodes = instancesOf(run, [definition, ...[...ancestorsOf(run.plan, definition)].map(({ id }) => id)]);
  return dueOf(run, nodes, (other) => other.definition === definition && placeOf(other.path).key === key).length > 0;
}

function isTriedAgain(run: Run, node: NodeState): boolean {
  for (let at = parentOf(run, node); at; at = parentOf(run, at)) if (at.attempts.length > 1) return true;
  return false;
}

/** The stages below a pipeline that have a rollback which is due, in the order in which they ended. */
export function stagesToUndo(run: Run, root: NodeState): readonly InstanceId[] {
  const below = `${placeOf(root.path).key}/`;
  const isStage = (node: NodeState): boolean => {
    const definition = definitionOf(run, node);
    return definition.kind === "stage" && definition.rollback !== undefined && placeOf(node.path).key.startsWith(below);
  };
  const nodes = instancesOf(run, Object.keys(run.plan.nodes));
  return inOrderOfEnd(run.plan, dueOf(run, nodes, isStage)).map(({ id }) => id);
}

/** Of the nodes in each place the last one that has acted, if nothing has undone it or what is around it since. */
function dueOf(run: Run, nodes: readonly NodeState[], isAsked: (node: NodeState) => boolean): readonly NodeState[] {
  const undone = undoneIn(run, nodes);
  const last = new Map<string, { readonly node: NodeState; readonly place: Place }>();
  for (const node of nodes) {
    if (!isAsked(node) || !hasActed(run, node)) continue;
    const place = placeOf(node.path);
    const known = last.get(place.key);
    if (!known || isLater(place.tries, known.place.tries)) last.set(place.key, { node, place });
  }
  return [...last.values()].flatMap(({ node, place }) => (isUndone(undone, place) ? [] : [node]));
}

type Tries = readonly number[];
/** `tries`: for each part of the path which try it was. */
type Place = { readonly key: string; readonly parts: readonly string[]; readonly tries: Tries };

/** `p/chain@2/p/s` is in the place of `p/chain/p/s`, in the second try of `chain`. */
function placeOf(path: string): Place {
  const parsed = path.split("/").map((part) => {
    const [name = "", count = "1"] = part.split("@");
    return { name, count: Number(count) };
  });
  const parts = parsed.map(({ name }) => name);
  return { key: parts.join("/"), parts, tries: parsed.map(({ count }) => count) };
}

/** The tries in which what stands in a place was undone, by the key of the place. */
function undoneIn(run: Run, nodes: Iterable<NodeState>): ReadonlyMap<string, readonly Tries[]> {
  const found = new Map<string, Tries[]>();
  for (const node of nodes) {
    for (const undone of undoneBy(run, node)) {
      const { key, tries } = placeOf(undone.path);
      found.set(key, [...(found.get(key) ?? []), tries]);
    }
  }
  return found;
}

/** What a rollback has undone so far: the node itself, or stages below a pipeline. */
function* undoneBy(run: Run, node: NodeState): Generator<NodeState> {
  if (node.progress?.phase !== "rollback") return;
  const { next, undo } = node.progress;
  for (let index = 0; index < next; index += 1) {
    const undone = undo ? findNode(run, undo[index] ?? "") : node;
    if (!undone) {
      // A retry of an earlier version has kept the ids of the execution before it: the pipeline has undone all below it.
      yield node;
      return;
    }
    const steps = findNode(run, instanceAt(run, childOf(run, node, index)).id);
    if (steps && hasUndone(run, steps)) yield undone;
  }
}

/** Rollback steps that were stopped before the first of them, as while they waited for a lock, have undone nothing. */
const hasUndone = (run: Run, steps: NodeState): boolean =>
  hasActed(run, steps) || !(steps.status === "aborted" || steps.status === "expired");

/** Whether it, or what is around it, was undone in its own try or a later one. */
const isUndone = (undone: ReadonlyMap<string, readonly Tries[]>, { parts, tries }: Place): boolean =>
  parts.some((_, depth) =>
    undone
      .get(parts.slice(0, depth + 1).join("/"))
      // How often the undone node itself was tried does not stand in its path.
      ?.some((other) => !isLater(tries.slice(0, depth), other.slice(0, depth))),
  );

/** Compares the tries of the outermost node first. */
function isLater(tries: Tries, others: Tries): boolean {
  const at = tries.findIndex((count, nth) => count !== others[nth]);
  return at >= 0 && (tries[at] ?? 0) > (others[at] ?? 0);
}

/** The nodes of a followed execution: each with its JSON, as `GET` answers it, and the change that made it so. */
import { isFinal, type InstanceId } from "../../engine/index.ts";
import { hasServiceReason } from "../detail.ts";
import { shownNodes, type ShownNode } from "../shown-nodes.ts";
import { adjacency, executionNode } from "../wire/graph.ts";
import { NO_REASONS, type ServiceReasons, type Reading } from "./reading.ts";

/** `json` is made when the node is first sent. */
type Entry = { readonly at: number; shown: ShownNode; json: string | undefined };
type Entries = ReadonlyMap<InstanceId, Entry>;

export type NodeJson = { readonly node: string; readonly adjacency: string };

export function createNodeEntries() {
  const entries = new Map<InstanceId, Entry>();
  const removed = new Map<InstanceId, number>();

  function removeOthers(shown: ReadonlyMap<InstanceId, ShownNode>, at: number): void {
    for (const id of entries.keys()) {
      if (shown.has(id)) continue;
      entries.delete(id);
      removed.set(id, at);
    }
  }

  return {
    /** Returns whether an entry has changed. */
    update(reading: Reading, at: number): boolean {
      const shown = shownNodes(reading.execution);
      let isChanged = false;
      for (const node of shown.values()) {
        const entry = entries.get(node.id);
        if (entry && !reading.touched.has(node.id) && isUnchanged(reading, entry, node)) {
          entry.shown = node;
          continue;
        }
        entries.set(node.id, { at, shown: node, json: undefined });
        removed.delete(node.id);
        isChanged = true;
      }
      if (entries.size === shown.size) return isChanged;
      removeOthers(shown, at);
      return true;
    },
    size: (): number => entries.size,
    changedSince: (since: number): InstanceId[] => [...entries].filter(([, { at }]) => at > since).map(([id]) => id),
    removedSince: (since: number): InstanceId[] => [...removed].filter(([, at]) => at > since).map(([id]) => id),
    /** Undefined for a node that is not shown any more. */
    jsonOf(reading: Reading, id: InstanceId, reasons: ServiceReasons): NodeJson | undefined {
      const entry = entries.get(id);
      if (!entry) return undefined;
      const { shown } = entry;
      // What one reader may see of a lock is not kept for others.
      const node = hasServiceReason(shown.state)
        ? nodeJson(reading, shown, reasons)
        : (entry.json ??= nodeJson(reading, shown));
      return { node, adjacency: JSON.stringify(adjacency(shown)) };
    },
    affectedBy: (changed: Iterable<InstanceId>): Set<InstanceId> => affectedBy(entries, changed),
  };
}

/**
 * What a follower has to be sent if these nodes have changed since its position and none has disappeared: parents list
 * their children, places below a node show whether it has ended, and who runs an open node has no revision.
 */
function affectedBy(entries: Entries, changed: Iterable<InstanceId>): Set<InstanceId> {
  const affected = new Set<InstanceId>();
  const addPlacesBelow = (id: InstanceId): void => {
    for (const child of entries.get(id)?.shown.children ?? []) {
      if (affected.has(child) || entries.get(child)?.shown.isReached) continue;
      affected.add(child);
      addPlacesBelow(child);
    }
  };
  for (const id of changed) {
    affected.add(id);
    const parent = entries.get(id)?.shown.state.parent ?? undefined;
    if (parent !== undefined) affected.add(parent);
    addPlacesBelow(id);
  }
  for (const [id, { shown }] of entries) if (shown.state.tasks > 0 && !isFinal(shown.state.status)) affected.add(id);
  return affected;
}

const nodeJson = ({ execution, extras }: Reading, shown: ShownNode, serviceReasons = NO_REASONS): string =>
  JSON.stringify(executionNode(execution, shown, { ...extras, serviceReasons }));

/** Whether the JSON of an entry stays as it is. It is compared only where the states are other objects. */
function isUnchanged(reading: Reading, { shown: before, json }: Entry, node: ShownNode): boolean {
  if (before.next !== node.next || !isSameList(before.children, node.children)) return false;
  return hasSameFacts(before, node) || (json !== undefined && json === nodeJson(reading, node));
}

function hasSameFacts(a: ShownNode, b: ShownNode): boolean {
  if (a.isReached !== b.isReached || a.definition !== b.definition || a.earlier.size !== b.earlier.size) return false;
  for (const [attempt, children] of a.earlier) if (!isSameList(children, b.earlier.get(attempt) ?? [])) return false;
  const [one, other] = [a.state, b.state];
  if (one === other) return true;
  const isPlace = !a.isReached && one.parent !== null;
  return isPlace && one.status === other.status && one.endedAt === other.endedAt;
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, nth) => one === b[nth]);

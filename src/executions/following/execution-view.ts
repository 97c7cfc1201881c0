/**
 * One execution as its followers see it: the entries that `GET` answers, and which change of the view made each of them
 * what it is. A follower asks for what has changed since the change that it knows. So changes between two questions
 * become one answer, and nothing is kept for a follower that does not read.
 */
import { isFinal, type InstanceId } from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { createNodeEntries, type NodeJson } from "./node-entries.ts";
import { shapeOf, type Position } from "./position.ts";
import type { ServiceReasons, Reading } from "./reading.ts";
import { createSummaryEntry } from "./summary-entry.ts";

export type ExecutionView = ReturnType<typeof createExecutionView>;

/** A view of the first reading. */
export function createExecutionView(first: Reading) {
  const nodes = createNodeEntries();
  const summary = createSummaryEntry();
  const logs = createLogOffsets();
  let [known, at, shape] = [first, 0, 0];

  function update(reading: Reading): boolean {
    const isAdvanced = at === 0 || known.revision !== reading.revision;
    known = reading;
    at += 1;
    const changes = [nodes.update(reading, at), summary.update(reading, at), logs.update(reading.logs, at)];
    if (isAdvanced) shape = shapeOf(reading.execution);
    if (isAdvanced || changes.includes(true)) return true;
    at -= 1;
    return false;
  }

  update(first);
  return {
    /** Returns whether anything has changed. */
    update,
    reading: (): Reading => known,
    /** The number of the last change. */
    at: (): number => at,
    nodes: {
      size: nodes.size,
      changedSince: nodes.changedSince,
      removedSince: nodes.removedSince,
      affectedBy: nodes.affectedBy,
      jsonOf: (id: InstanceId, reasons: ServiceReasons): NodeJson | undefined => nodes.jsonOf(known, id, reasons),
    },
    summarySince: summary.since,
    logs,
    hasEnded: (): boolean => isFinal(known.execution.status),
    position: (): Position => ({ revision: known.revision, shape, hasEnded: false }),
  };
}

function createLogOffsets() {
  const offsets = new Map<InstanceId, { readonly at: number; readonly bytes: number }>();
  return {
    update(found: ReadonlyMap<InstanceId, number>, at: number): boolean {
      let isChanged = false;
      for (const [node, bytes] of found) {
        if (offsets.get(node)?.bytes === bytes) continue;
        offsets.set(node, { at, bytes });
        isChanged = true;
      }
      return isChanged;
    },
    /** Those that have changed since, and those of some nodes. */
    since: (since: number, of: ReadonlySet<InstanceId> = new Set()): Readonly<Record<string, number>> =>
      Object.fromEntries(
        [...offsets]
          .filter(([node, { at }]) => at > since || of.has(node))
          .map(([node, { bytes }]) => [toWire(node as Uuid), bytes]),
      ),
    sum: (): number => offsets.values().reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

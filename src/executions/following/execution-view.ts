/**
 * One execution as its followers see it: the entries that `GET` answers, and which change of the view made each of them
 * what it is. A follower asks for what has changed since the change that it knows. So changes between two questions
 * become one answer, and nothing is kept for a follower that does not read.
 */
import { isFinal, type InstanceId } from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { LogLength } from "../store/following.ts";
import { createNodeEntries, type NodeJson } from "./node-entries.ts";
import { shapeOf, type Position } from "./position.ts";
import type { ServiceReasons, Reading } from "./reading.ts";
import { createSummaryEntry } from "./summary-entry.ts";

export type ExecutionView = ReturnType<typeof createExecutionView>;

/** A view of the first reading. */
export function createExecutionView(first: Reading) {
  const nodes = createNodeEntries();
  const summary = createSummaryEntry();
  const logs = createLogLengths();
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

function createLogLengths() {
  const lengths = new Map<InstanceId, LogLength & { readonly at: number }>();
  return {
    update(found: ReadonlyMap<InstanceId, LogLength>, at: number): boolean {
      let isChanged = false;
      for (const [node, { bytes, lines }] of found) {
        const known = lengths.get(node);
        if (known?.bytes === bytes && known.lines === lines) continue;
        lengths.set(node, { at, bytes, lines });
        isChanged = true;
      }
      return isChanged;
    },
    /** Those that have changed since, and those of some nodes. */
    since(
      since: number,
      of: ReadonlySet<InstanceId> = new Set(),
    ): { readonly bytes: Numbers; readonly lines: Numbers } {
      const changed = [...lengths].filter(([node, { at }]) => at > since || of.has(node));
      const counted = changed.flatMap(([node, { lines }]) => (lines === null ? [] : [[node, lines] as const]));
      return {
        bytes: numbersOf(changed.map(([node, { bytes }]) => [node, bytes] as const)),
        lines: numbersOf(counted),
      };
    },
    sum: (): number => lengths.values().reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

type Numbers = Readonly<Record<string, number>>;

const numbersOf = (entries: readonly (readonly [node: InstanceId, value: number])[]): Numbers =>
  Object.fromEntries(entries.map(([node, value]) => [toWire(node as Uuid), value]));

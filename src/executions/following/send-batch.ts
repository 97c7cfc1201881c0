/** What a follower has not seen yet, as events of a bounded size. */
import type { InstanceId } from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import type { ExecutionView } from "./execution-view.ts";
import type { ServiceReasons } from "./reading.ts";
import { objectOf } from "./summary-entry.ts";

/** Characters of nodes in one event. */
const EVENT_CHARACTERS = 64 * 1024;

type Piece = { readonly event: "snapshot" | "execution" | "nodes" | "logs" | "lines"; readonly data: string };

/** Which entries: those changed after `since` (-1: all, as a snapshot), and these nodes. */
export type Batch = {
  readonly since: number;
  readonly nodes: ReadonlySet<InstanceId>;
  /** The first batch after a position. */
  readonly isResumed: boolean;
  readonly reasons: ServiceReasons;
};

const id = (node: string): string => toWire(node as Uuid);

/** Entries are turned into JSON as they are sent: meanwhile the view may go on. */
function* piecesOf(view: ExecutionView, { since, nodes, reasons, isResumed }: Batch): Generator<Piece> {
  const logs = view.logs.since(since, nodes);
  const changed = new Set([...view.nodes.changedSince(since), ...nodes]);
  const removed = since < 0 ? [] : view.nodes.removedSince(since);
  // For a follower that resumes it is not known which stages have changed.
  const summary = view.summarySince(isResumed ? -1 : since);
  if (since < 0) {
    const graph = { rootNodeId: id(view.reading().execution.plan.root), nodeMap: {}, nodeAdjacencyListMap: {} };
    const json = JSON.stringify({ ...graph, representationStrategy: "camelCase" });
    yield { event: "snapshot", data: `{"pipelineExecutionSummary":${summary},"executionGraph":${json}}` };
  } else if (summary) yield { event: "execution", data: summary };
  yield* nodePieces(view, [...changed], { removed, reasons });
  if (Object.keys(logs.bytes).length > 0) yield { event: "logs", data: JSON.stringify(logs.bytes) };
  if (Object.keys(logs.lines).length > 0) yield { event: "lines", data: JSON.stringify(logs.lines) };
}

type Members = [id: string, json: string][];

function* nodePieces(
  view: ExecutionView,
  changed: readonly InstanceId[],
  { removed, reasons }: { readonly removed: readonly InstanceId[]; readonly reasons: ServiceReasons },
): Generator<Piece> {
  let [nodes, adjacencies, length]: [Members, Members, number] = [[], [], 0];
  const piece = (gone: readonly InstanceId[]): Piece => {
    const data = `{"nodeMap":${objectOf(nodes)},"nodeAdjacencyListMap":${objectOf(adjacencies)},"removed":${JSON.stringify(gone.map(id))}}`;
    [nodes, adjacencies, length] = [[], [], 0];
    return { event: "nodes", data };
  };
  for (const node of changed) {
    const json = view.nodes.jsonOf(node, reasons);
    if (!json) continue;
    nodes.push([id(node), json.node]);
    adjacencies.push([id(node), json.adjacency]);
    length += json.node.length + json.adjacency.length;
    if (length >= EVENT_CHARACTERS) yield piece([]);
  }
  if (length > 0 || removed.length > 0) yield piece(removed);
}

/**
 * Sends a batch. Only its last event has the position: a follower that loses the stream before gets the batch again.
 * Returns whether anything was sent.
 */
export async function sendBatch(
  sink: EventSink,
  view: ExecutionView,
  { position, retry, ...batch }: Batch & { readonly position: string; readonly retry: number | undefined },
): Promise<boolean> {
  let last: Piece | undefined;
  let retryOnce = retry;
  for (const piece of piecesOf(view, batch)) {
    if (last) {
      await sink.send({ ...last, retry: retryOnce });
      retryOnce = undefined;
    }
    if (sink.closed.aborted) return true;
    last = piece;
  }
  if (last) await sink.send({ ...last, retry: retryOnce, id: position });
  return last !== undefined;
}

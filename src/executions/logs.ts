import { isFinal } from "../engine/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import type { OnTaskOutput } from "../delegates/index.ts";
import type { MaybeInProject } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { EventSink } from "../platform/http/events.ts";
import type { GetExecution } from "./get.ts";
import { problem } from "./problems.ts";
import { findStatus } from "./store/executions.ts";
import { logDeletedAt } from "./store/retention.ts";
import { appendLog, readLog, readNodeLog, type LogChunk } from "./store/logs.ts";
import { graphqlStatus } from "./wire/status.ts";
import type { Wakeups } from "./wakeups.ts";

type Deps = { readonly db: Db; readonly get: GetExecution; readonly wakeups: Pick<Wakeups, "wake" | "next"> };

/** Which log, and where in it: byte offsets count in the log that is asked for, the execution's or one node's. */
export type LogRange = {
  readonly nodeExecutionId?: string | undefined;
  readonly from: number;
  readonly limit?: number | undefined;
};

/** Takes output of a task into the log, in the transaction that acknowledges it (law 6). */
export const makeTakeOutput =
  (deps: Pick<Deps, "wakeups">): OnTaskOutput =>
  async (tx, task, bytes) => {
    await appendLog(tx, task.accountId, task.runId, task.nodeId, bytes);
    tx.afterCommit(() => deps.wakeups.wake(task.runId));
  };

type Source = { readonly executionId: Uuid; readonly next: (from: number) => Promise<LogChunk[]> };

async function openLog(
  deps: Deps,
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  node: string | undefined,
): Promise<Source> {
  const execution = await deps.get(actor, id, scope);
  const { accountId } = actor;
  const deletedAt = isFinal(execution.status) ? await logDeletedAt(deps.db, accountId, execution.id) : undefined;
  if (deletedAt !== undefined) throw problem("execution.log_deleted", [id, new Date(deletedAt).toISOString()]);
  if (node === undefined)
    return { executionId: execution.id, next: (from) => readLog(deps.db, accountId, execution.id, from) };
  const nodeId = fromWire(node);
  if (!nodeId || !Object.hasOwn(execution.plan.nodes, nodeId)) throw problem("execution.node_not_found", [id, node]);
  return { executionId: execution.id, next: (from) => readNodeLog(deps.db, accountId, execution.id, nodeId, from) };
}

/** What is there now, as bytes. Throws `execution.not_found`, `execution.node_not_found`, `execution.log_deleted`. */
export type DownloadLog = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  range: LogRange,
) => Promise<AsyncIterable<Buffer>>;

export const makeDownloadLog =
  (deps: Deps): DownloadLog =>
  async (actor, id, scope, range) => {
    const source = await openLog(deps, actor, id, scope, range.nodeExecutionId);
    return bytesOf(source, range.from, range.limit ?? Number.POSITIVE_INFINITY);
  };

async function* bytesOf(source: Source, from: number, limit: number): AsyncIterable<Buffer> {
  let at = from;
  const end = from + limit;
  while (at < end) {
    const chunks = await source.next(at);
    if (chunks.length === 0) return;
    for (const chunk of chunks) {
      const bytes = chunk.data.subarray(at - chunk.position, Math.min(chunk.data.length, end - chunk.position));
      if (bytes.length === 0) return;
      yield bytes;
      at += bytes.length;
    }
  }
}

/**
 * Follows a log until the execution has ended and everything is sent. Each
 * event `log` carries `{nodeExecutionId, text}` and, as its id, the offset to
 * resume from; the last one, `end`, carries the status.
 */
export type FollowLog = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  range: LogRange,
) => Promise<(sink: EventSink) => Promise<void>>;

const PING_EVERY_LOOKS = 15;

export const makeFollowLog =
  (deps: Deps): FollowLog =>
  async (actor, id, scope, range) => {
    const source = await openLog(deps, actor, id, scope, range.nodeExecutionId);
    return async (sink) => {
      let at = range.from;
      for (let looks = 1; !sink.closed.aborted; looks += 1) {
        // Listens before it looks, so that nothing comes unheard in between.
        const woken = deps.wakeups.next(source.executionId, sink.closed);
        // Asked for before the log is read: what an ended execution wrote is there by now.
        const status = await findStatus(deps.db, actor.accountId, source.executionId);
        const after = await sendFrom(source, at, sink);
        const moved = after > at;
        at = after;
        if (status === undefined || isFinal(status)) {
          if (moved) continue;
          await sink.send({
            id: String(at),
            event: "end",
            data: JSON.stringify({ status: status && graphqlStatus(status) }),
          });
          return;
        }
        if (looks % PING_EVERY_LOOKS === 0) await sink.ping();
        await woken;
      }
    };
  };

async function sendFrom(source: Source, from: number, sink: EventSink): Promise<number> {
  let at = from;
  for (let chunks = await source.next(at); chunks.length > 0 && !sink.closed.aborted; chunks = await source.next(at)) {
    for (const chunk of chunks) {
      const bytes = chunk.data.subarray(Math.max(0, at - chunk.position));
      at = chunk.position + chunk.data.length;
      await sink.send({
        id: String(at),
        event: "log",
        data: JSON.stringify({ nodeExecutionId: toWire(chunk.nodeId), text: bytes.toString("utf8") }),
      });
    }
  }
  return at;
}

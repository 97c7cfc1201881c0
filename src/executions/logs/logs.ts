/**
 * Writes and reads the logs of executions and nodes: appends the output of tasks, downloads a log as bytes or JSON lines,
 * and follows it as events. ../rest.ts has the routes.
 */
import { isFinal, type Origin } from "../../engine/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { OnTaskOutput } from "../../delegates/index.ts";
import type { MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import type { GetExecution } from "../get.ts";
import type { ExecutionDetail } from "../execution.ts";
import { linesOf, timeOf, type FindLogNode } from "./lines.ts";
import { findLogNodes } from "./nodes.ts";
import { problem } from "../problems.ts";
import { findStatus } from "../store/executions.ts";
import { logDeletedAt } from "../store/retention.ts";
import { shownNodes } from "../shown-nodes.ts";
import { appendLog, LAST_TASK, readLog, readNodeLog, type LogChunk, type NodeTasks } from "../store/logs.ts";
import { graphqlStatus } from "../wire/status.ts";
import type { Wakeups } from "../wakeups.ts";

type Deps = { readonly db: Db; readonly get: GetExecution; readonly wakeups: Pick<Wakeups, "wake" | "next"> };

/** Which log, and where in it: byte offsets count in the log that is asked for, the execution's or one node's. */
export type LogRange = {
  readonly nodeExecutionId?: string | undefined;
  /** Of the node; all of them without it. */
  readonly attempt?: number | undefined;
  readonly from: number;
  readonly limit?: number | undefined;
};

/** Takes output of a task into the log, in the transaction that acknowledges it (invariant 6). */
export const makeTakeOutput =
  (deps: Pick<Deps, "wakeups"> & { readonly clock: Clock }): OnTaskOutput =>
  async (tx, task, bytes) => {
    const place = { executionId: task.runId, nodeId: task.nodeId, task: task.attempt, at: deps.clock.now() };
    await appendLog(tx, task.accountId, place, bytes);
    tx.afterCommit(() => deps.wakeups.wake(task.runId));
  };

type Source = {
  readonly executionId: Uuid;
  readonly find: FindLogNode;
  readonly next: (from: number) => Promise<LogChunk[]>;
};

async function openLog(deps: Deps, actor: Actor, id: string, scope: MaybeInProject, range: LogRange): Promise<Source> {
  const execution = await deps.get(actor, id, scope);
  const { accountId } = actor;
  const origin = originOf(execution, range);
  if (origin) {
    const { execution: earlier, node } = origin;
    return openLog(deps, actor, toWire(earlier as Uuid), scope, { ...range, nodeExecutionId: toWire(node as Uuid) });
  }
  const deletedAt = isFinal(execution.status) ? await logDeletedAt(deps.db, accountId, execution.id) : undefined;
  if (deletedAt !== undefined) throw problem("execution.log_deleted", [id, new Date(deletedAt).toISOString()]);
  const source = { executionId: execution.id, find: findLogNodes(deps.db, accountId, execution) };
  const tasks = tasksOf(execution, id, range);
  if (!tasks) return { ...source, next: (from) => readLog(deps.db, accountId, execution.id, from) };
  return { ...source, next: (from) => readNodeLog(deps.db, accountId, execution.id, tasks, from) };
}

/** Where a node was run that a retry took over: its log is there. */
function originOf({ nodes }: ExecutionDetail, { nodeExecutionId }: LogRange): Origin | undefined {
  const id = nodeExecutionId === undefined ? undefined : fromWire(nodeExecutionId);
  return id && nodes.get(id)?.origin;
}

/** Undefined for the log of the whole execution. */
function tasksOf(
  execution: ExecutionDetail,
  id: string,
  { nodeExecutionId: wire, attempt }: LogRange,
): NodeTasks | undefined {
  if (wire === undefined) return undefined;
  const nodeId = fromWire(wire);
  const node = nodeId && shownNodes(execution).get(nodeId);
  if (!node) throw problem("execution.node_not_found", [id, wire]);
  if (attempt === undefined) return { nodeId, first: 1, last: LAST_TASK };
  const { attempts } = node.state;
  const asked = attempts[attempt - 1];
  if (!asked) throw problem("execution.no_attempt", [wire, String(attempt)]);
  const before = attempts.slice(0, attempt - 1).reduce((last, one) => Math.max(last, one.task ?? 0), 0);
  return { nodeId, first: before + 1, last: asked.task ?? before };
}

/** What is there now, as bytes. Throws `execution.not_found`, `execution.node_not_found`,
 * `execution.no_attempt`, `execution.log_deleted`. */
export type DownloadLog = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  range: LogRange,
) => Promise<AsyncIterable<Buffer>>;

export const makeDownloadLog =
  (deps: Deps): DownloadLog =>
  async (actor, id, scope, range) => {
    const source = await openLog(deps, actor, id, scope, range);
    return bytesOf(source, range.from, range.limit ?? Number.POSITIVE_INFINITY);
  };

async function* bytesOf(source: Source, from: number, limit: number): AsyncIterable<Buffer> {
  for await (const { data } of piecesOf(source, from, limit)) yield data;
}

/** The chunks of a range, the first and the last one cut to it. */
async function* piecesOf({ next }: Source, from: number, limit: number): AsyncIterable<LogChunk> {
  let at = from;
  const end = from + limit;
  while (at < end) {
    const chunks = await next(at);
    if (chunks.length === 0) return;
    for (const chunk of chunks) {
      const data = chunk.data.subarray(at - chunk.position, Math.min(chunk.data.length, end - chunk.position));
      if (data.length === 0) return;
      yield { ...chunk, data };
      at += data.length;
    }
  }
}

/**
 * The same range as JSON lines (`lines.ts`). `within` narrows it to the nodes at or below a path of the plan, as
 * `["pipeline", "stages", "build"]`.
 */
export type DownloadLines = (
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  range: LogRange & { readonly within?: readonly string[] | undefined },
) => Promise<AsyncIterable<Buffer>>;

export const makeDownloadLines =
  (deps: Deps): DownloadLines =>
  async (actor, id, scope, { within, ...range }) => {
    const source = await openLog(deps, actor, id, scope, range);
    const pieces = piecesOf(source, range.from, range.limit ?? Number.POSITIVE_INFINITY);
    return linesOf(pieces, source.find, within);
  };

/**
 * Follows a log until the execution has ended and everything is sent. Each
 * event `log` carries `{nodeExecutionId, step, time, text}` (`step` and `time` as in `lines.ts`) and, as its id, the
 * offset to resume from; the last one, `end`, carries the status.
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
    const source = await openLog(deps, actor, id, scope, range);
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
        data: JSON.stringify({
          nodeExecutionId: toWire(chunk.nodeId),
          step: (await source.find(chunk.nodeId)).step,
          time: timeOf(chunk),
          text: bytes.toString("utf8"),
        }),
      });
    }
  }
  return at;
}

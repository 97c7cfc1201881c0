/**
 * Writes and reads the logs of executions and nodes: appends the output of tasks, downloads a log as bytes or JSON lines,
 * and follows it as events. ../rest.ts has the routes.
 */
import { isFinal } from "../../engine/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { OnTaskOutput } from "../../delegates/index.ts";
import type { MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import type { GetExecution } from "../get.ts";
import { countLineFeeds } from "./line-feeds.ts";
import { linesOf, timeOf, type FindLogNode } from "./lines.ts";
import { findBegin, locateLog, type LocatedLog, type LogName } from "./locate.ts";
import { findLogNodes } from "./nodes.ts";
import { findStatus } from "../store/executions.ts";
import {
  appendLog,
  readBinary,
  readLog,
  readNodeLog,
  readPrepared,
  type LogChunk,
  type ReadChunks,
} from "../store/logs.ts";
import { graphqlStatus } from "../wire/status.ts";
import type { Wakeups } from "../wakeups.ts";

type Deps = { readonly db: Db; readonly get: GetExecution; readonly wakeups: Pick<Wakeups, "wake" | "next"> };

/** Which log, and where in it: byte offsets count in the log that is asked for, the execution's or one node's. */
export type LogRange = LogName & {
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
  readonly name: string;
  readonly find: FindLogNode;
  /** Line feeds in the log of the node before what is read of it; null if they were not counted. */
  readonly linesBefore: number | null;
  /** The chunks from a position on, as they are wanted: soon after they were written, or many. */
  readonly next: (read: ReadChunks, from: number) => Promise<LogChunk[]>;
};

async function openLog(deps: Deps, actor: Actor, id: string, scope: MaybeInProject, range: LogRange): Promise<Source> {
  const { accountId } = actor;
  const { execution, tasks } = await locateLog(deps, actor, id, scope, range);
  const find = findLogNodes(deps.db, accountId, execution);
  const source = { executionId: execution.id, name: nameOf(execution, tasks, range), linesBefore: 0, find };
  if (!tasks) return { ...source, next: (read, from) => readLog(read, accountId, execution.id, from) };
  const { nodeId, first, last } = tasks;
  const begin = await findBegin(deps.db, { accountId, executionId: execution.id, nodeId }, first);
  const part = { nodeId, begin: begin.position, lastTask: last };
  return {
    ...source,
    linesBefore: begin.lines,
    next: (read, from) => readNodeLog(read, accountId, execution.id, part, from),
  };
}

/** As `deploy-12-smoke_test-2`. Identifiers of steps may have characters that names of files must not have. */
const nameOf = (
  { pipelineIdentifier, runSequence }: LocatedLog["execution"],
  tasks: LocatedLog["tasks"],
  { attempt }: LogName,
): string =>
  [pipelineIdentifier, runSequence, tasks?.identifier, tasks && attempt]
    .filter((part) => part !== undefined)
    .join("-")
    .replace(/[^\w$-]/g, "_");

/** What is there now, as bytes. Throws `execution.not_found`, `execution.node_not_found`,
 * `execution.no_attempt`, `execution.log_deleted`. */
export type DownloadLog = (actor: Actor, id: string, scope: MaybeInProject, range: LogRange) => Promise<Download>;

/** The content of a log, read while it is sent, and the beginning of a name for its file. */
export type Download = { readonly body: AsyncIterable<Buffer>; readonly name: string };

export const makeDownloadLog =
  (deps: Deps): DownloadLog =>
  async (actor, id, scope, range) => {
    const source = await openLog(deps, actor, id, scope, range);
    return { body: bytesOf(deps, source, range.from, range.limit ?? Number.POSITIVE_INFINITY), name: source.name };
  };

async function* bytesOf(deps: Deps, source: Source, from: number, limit: number): AsyncIterable<Buffer> {
  for await (const { data } of piecesOf(deps, source, from, limit)) yield data;
}

/** The chunks of a range, the first and the last one cut to it. */
async function* piecesOf({ db }: Deps, { next }: Source, from: number, limit: number): AsyncIterable<LogChunk> {
  const read = readBinary(db);
  let at = from;
  const end = from + limit;
  while (at < end) {
    const chunks = await next(read, at);
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
) => Promise<Download>;

export const makeDownloadLines =
  (deps: Deps): DownloadLines =>
  async (actor, id, scope, { within, ...range }) => {
    const source = await openLog(deps, actor, id, scope, range);
    const pieces = piecesOf(deps, source, range.from, range.limit ?? Number.POSITIVE_INFINITY);
    return { body: linesOf(pieces, source.find, within), name: source.name };
  };

/**
 * Follows a log until the execution has ended and everything is sent. Each
 * event `log` carries `{nodeExecutionId, step, time, line, text}` (`step` and `time` as in `lines.ts`, `line` the number
 * of the line that the text begins in) and, as its id, the offset to resume from; the last one, `end`, carries the
 * status.
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
        const after = await sendFrom(deps, source, at, sink);
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

async function sendFrom({ db }: Deps, source: Source, from: number, sink: EventSink): Promise<number> {
  const read = readPrepared(db);
  let at = from;
  for (;;) {
    const chunks = await source.next(read, at);
    if (chunks.length === 0 || sink.closed.aborted) return at;
    for (const chunk of chunks) {
      const bytes = chunk.data.subarray(Math.max(0, at - chunk.position));
      const line = lineAt(chunk, source.linesBefore, at);
      at = chunk.position + chunk.data.length;
      await sink.send({
        id: String(at),
        event: "log",
        data: JSON.stringify({
          nodeExecutionId: toWire(chunk.nodeId),
          step: (await source.find(chunk.nodeId)).step,
          time: timeOf(chunk),
          line,
          text: bytes.toString("utf8"),
        }),
      });
    }
  }
}

/** The number of the line of its node that a position in a chunk lies in; null if lines were not counted. */
const lineAt = ({ data, position, lines }: LogChunk, linesBefore: number | null, at: number): number | null =>
  lines === null || linesBefore === null ? null : lines - linesBefore + countLineFeeds(data, 0, at - position) + 1;

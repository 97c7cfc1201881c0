/** The log of a node, or of one of its attempts, as the viewer of logs reads it: by lines, with constant memory. */
import type { Actor } from "../../../core/actor.ts";
import type { MaybeInProject } from "../../../pipelines/index.ts";
import type { Db } from "../../../platform/db/db.ts";
import type { GetExecution } from "../../get.ts";
import { problem } from "../../problems.ts";
import { selectChunkAt, type LogHead, type LogPlace, type NodeKey } from "../../store/node-logs.ts";
import { LINE_FEED } from "../line-feeds.ts";
import { findBegin, locateLog } from "../locate.ts";
import { countLines } from "./count-lines.ts";

export type ViewerDeps = { readonly db: Db; readonly get: GetExecution };

export type NodeLogName = { readonly nodeExecutionId: string; readonly attempt?: number | undefined };

/** What is there of a log at one moment. Positions and line feeds count in the log of the node. */
export type NodeLog = {
  readonly key: NodeKey;
  readonly begin: LogPlace;
  readonly end: LogPlace;
  /** Lines, an open last one included. */
  readonly totalLines: number;
  /** Whether nothing will be added. */
  readonly isComplete: boolean;
};

/** What every answer about a log says of it. */
export type LogSize = { readonly totalLines: number; readonly endOffset: number; readonly complete: boolean };

export const sizeOf = ({ begin, end, totalLines, isComplete }: NodeLog): LogSize => ({
  totalLines,
  endOffset: end.position - begin.position,
  complete: isComplete,
});

/** Throws `execution.not_found`, `execution.node_not_found`, `execution.no_attempt`, `execution.log_deleted`. */
export async function openNodeLog(
  { db, get }: ViewerDeps,
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  name: NodeLogName,
): Promise<NodeLog> {
  const { accountId } = actor;
  const { execution, tasks } = await locateLog({ db, get }, actor, id, scope, name);
  if (!tasks) throw problem("execution.node_not_found", [id, name.nodeExecutionId]);
  const key = { accountId, executionId: execution.id, nodeId: tasks.nodeId };
  const head = await countLines(db, key);
  const begin = await placeOfTask(db, key, tasks.first);
  const end = name.attempt === undefined ? endOf(head) : await placeOfTask(db, key, tasks.last + 1);
  const isOpen = end.position > begin.position && (await endsInsideLine(db, key, head, end));
  const totalLines = end.lines - begin.lines + (isOpen ? 1 : 0);
  return { key, begin, end, totalLines, isComplete: tasks.haveEnded };
}

const endOf = ({ bytes, lines }: LogHead): LogPlace => ({ position: bytes, lines });

async function placeOfTask(db: Db, key: NodeKey, task: number): Promise<LogPlace> {
  const { position, lines } = await findBegin(db, key, task);
  return { position, lines: lines ?? 0 };
}

async function endsInsideLine(db: Db, key: NodeKey, head: LogHead, { position }: LogPlace): Promise<boolean> {
  if (position === head.bytes) return head.openLine;
  return (await selectChunkAt(db, key, position - 1))?.lastByte !== LINE_FEED;
}

/**
 * A log as JSON lines, one for each line of it: `{"time", "level", "step", "nodeExecutionId", "out"}`. `time` is when the
 * server took the chunk that the line begins in (RFC 3339; null for what an older server took), `step` the identifiers of
 * stage and step, as `build.greet`. Lines of steps that run at once stay whole. A line of more than 64 KiB comes in parts.
 */
import { toWire, type Uuid } from "../../core/ids.ts";
import type { LogChunk } from "../store/logs.ts";

const LONGEST_LINE = 64 * 1024;
const NEWLINE = 0x0a;
/** Lines are sent in parts of this size: the JSON of a chunk of short lines is two hundred times as long. */
const PART_SIZE = 64 * 1024;

export const timeOf = ({ at }: Pick<LogChunk, "at">): string | null =>
  at === null ? null : new Date(at).toISOString();

/** A node that wrote something. */
export type LogNode = {
  /** As `build.greet`; null for a node that the plan does not have. */
  readonly step: string | null;
  /** Where it stands in the plan. */
  readonly path: readonly string[];
};

export type FindLogNode = (nodeId: Uuid) => Promise<LogNode>;

/** Whether the node stands at this path of the plan, or below it. */
const isWithin = (node: LogNode, path: readonly string[]): boolean => path.every((part, at) => node.path[at] === part);

/** What a node has written of a line that is not complete yet. */
type Begun = { readonly time: string | null; readonly parts: Buffer[]; length: number };

export async function* linesOf(
  chunks: AsyncIterable<LogChunk>,
  find: FindLogNode,
  within: readonly string[] = [],
): AsyncIterable<Buffer> {
  const begun = new Map<Uuid, Begun>();
  for await (const chunk of chunks) {
    const { nodeId } = chunk;
    const node = await find(nodeId);
    if (within.length > 0 && !isWithin(node, within)) continue;
    let text = "";
    for (const line of linesIn(begun, chunk)) {
      text += jsonOf(node, nodeId, line);
      if (text.length < PART_SIZE) continue;
      yield Buffer.from(text);
      text = "";
    }
    if (text !== "") yield Buffer.from(text);
  }
  for (const [nodeId, line] of begun) yield Buffer.from(jsonOf(await find(nodeId), nodeId, line));
}

/** The lines that a chunk completes; what is left of it waits for the next chunk of its node. */
function* linesIn(begun: Map<Uuid, Begun>, { nodeId, data, ...chunk }: LogChunk): Generator<Begun> {
  const time = timeOf(chunk);
  for (let from = 0; from < data.length;) {
    const newline = data.indexOf(NEWLINE, from);
    const line = begun.get(nodeId) ?? { time, parts: [], length: 0 };
    const end = Math.min(newline === -1 ? data.length : newline, from + LONGEST_LINE - line.length);
    line.parts.push(data.subarray(from, end));
    line.length += end - from;
    const isComplete = end === newline;
    if (isComplete || line.length === LONGEST_LINE) {
      begun.delete(nodeId);
      yield line;
    } else begun.set(nodeId, line);
    from = isComplete ? end + 1 : end;
  }
}

const jsonOf = ({ step }: LogNode, nodeId: Uuid, { time, parts }: Begun): string =>
  `${JSON.stringify({
    time,
    level: "INFO",
    step,
    nodeExecutionId: toWire(nodeId),
    out: Buffer.concat(parts).toString("utf8"),
  })}\n`;

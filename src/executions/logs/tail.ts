/** The last lines of a failed step's log, which its failure shows. No route reads them; logs.ts reads whole logs. */
import type { TaskOutcome } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import { storable } from "../marks.ts";
import { readTail } from "../store/logs.ts";

const LINES = 20;
const BYTES = 4 * 1024;

/**
 * At most 20 lines and 4 KiB, masked by the delegate as the whole log is. Undefined for a step that ended well or wrote
 * nothing.
 */
export async function logTailOf(
  tx: Tx,
  task: { readonly accountId: Uuid; readonly runId: Uuid; readonly nodeId: Uuid; readonly attempt: number },
  outcome: TaskOutcome,
): Promise<string | undefined> {
  if (outcome.kind === "exited" && outcome.exitCode === 0) return undefined;
  const bytes = await readTail(
    tx,
    task.accountId,
    { executionId: task.runId, nodeId: task.nodeId, task: task.attempt },
    BYTES,
  );
  return lastLines(bytes, bytes.length === BYTES) || undefined;
}

/** `isCut`: the first line may have lost its beginning, and with it a half of a character. */
export function lastLines(bytes: Buffer, isCut: boolean): string {
  let start = 0;
  while (isCut && start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const text = storable(bytes.subarray(start).toString("utf8").toWellFormed());
  return text.replace(/\n$/, "").split("\n").slice(-LINES).join("\n");
}

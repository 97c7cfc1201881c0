import { toWire } from "../core/ids.ts";
import type { Clock } from "../core/clock.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { Sessions } from "./sessions.ts";
import { closeTask, lockTaskOf, markCancelling } from "./store/tasks.ts";
import type { TaskFor } from "./task.ts";

export const CANCEL_CHANNEL = "railhead_tasks_cancel";

/**
 * Asks for the end of a task. A task that no delegate has yet ends here and now
 * (`ended`); otherwise its delegate is told after the commit and its end comes
 * as a message (`asked`). `over` when it had ended before.
 */
export type CancelTask = (tx: Tx, task: TaskFor) => Promise<"ended" | "asked" | "over">;

export const makeCancelTask =
  (deps: { db: Db; clock: Clock; sessions: Sessions; onError: (error: unknown) => void }): CancelTask =>
  async (tx, task) => {
    const row = await lockTaskOf(tx, task);
    if (!row || row.status === "finished") return "over";
    if (row.status === "ready") {
      await closeTask(tx, { ...row, at: deps.clock.now() });
      return "ended";
    }
    await markCancelling(tx, row.accountId, row.id);
    const session = row.delegateId && deps.sessions.of(row.delegateId);
    tx.afterCommit(() => {
      if (session) session.send({ kind: "cancel", task: toWire(row.id), epoch: row.epoch });
      // Another replica holds the delegate, or nobody does: then its next hello brings the cancel.
      else deps.db.notify(CANCEL_CHANNEL, row.delegateId ?? "").catch(deps.onError);
    });
    return "asked";
  };

import { toWire, type Uuid } from "../../core/ids.ts";
import type { Clock } from "../../core/clock.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Sessions } from "../session/sessions.ts";
import { closeTask, lockOpenTasks, lockTaskOf, markCancelling, type TaskRow } from "../store/tasks.ts";
import type { TaskFor } from "../task.ts";

export const CANCEL_CHANNEL = "railhead_tasks_cancel";

/**
 * Asks for the end of a task. A task that no delegate has yet ends here and now
 * (`ended`); otherwise its delegate is told after the commit and its end comes
 * as a message (`asked`). `over` when it had ended before.
 */
export type CancelTask = (tx: Tx, task: TaskFor) => Promise<"ended" | "asked" | "over">;

/** Asks for the end of every task of a run that has not ended. The run hears of none of them. */
export type CancelRun = (tx: Tx, accountId: Uuid, runId: Uuid) => Promise<void>;

export type CancelDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly onError: (error: unknown) => void;
};

export function createCancels(deps: CancelDeps): { readonly cancel: CancelTask; readonly cancelRun: CancelRun } {
  async function cancelRow(tx: Tx, row: TaskRow): Promise<"ended" | "asked"> {
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
  }

  return {
    async cancel(tx, task) {
      const row = await lockTaskOf(tx, task);
      return !row || row.status === "finished" ? "over" : cancelRow(tx, row);
    },
    async cancelRun(tx, accountId, runId) {
      for (const row of await lockOpenTasks(tx, accountId, runId)) await cancelRow(tx, row);
    },
  };
}

/**
 * Passes the cancellation of a task to the delegate that leases it, on the replica to which it is connected. The
 * delegate terminates the processes.
 */
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Clock } from "../../core/clock.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Sessions } from "../session/sessions.ts";
import { selectTasksLeasedTo } from "../store/leases.ts";
import { closeTask, lockOpenTasks, lockTaskOf, markCancelling, type TaskRow } from "../store/tasks.ts";
import type { TaskFor } from "../task.ts";

export const CANCEL_CHANNEL = "railhead_tasks_cancel";

/**
 * Cancels a task. A task that no delegate has yet ends at once (`ended`). Otherwise its delegate is told after the
 * commit, and its end arrives as a message (`asked`). `over` when it had ended before.
 */
export type CancelTask = (tx: Tx, task: TaskFor) => Promise<"ended" | "asked" | "over">;

/** Cancels every unfinished task of a run, without reporting their ends to the run. */
export type CancelRun = (tx: Tx, accountId: Uuid, runId: Uuid) => Promise<void>;

export type CancelDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly onError: (error: unknown) => void;
};

export type Cancels = {
  readonly cancel: CancelTask;
  readonly cancelRun: CancelRun;
  /** Another replica cancelled a task whose delegate may be connected here. */
  readonly notified: (delegateId: string) => void;
};

export function createCancels(deps: CancelDeps): Cancels {
  async function cancelLocked(tx: Tx, row: TaskRow): Promise<"ended" | "asked"> {
    if (row.status === "ready") {
      await closeTask(tx, { ...row, at: deps.clock.now() });
      return "ended";
    }
    await markCancelling(tx, row.accountId, row.id);
    const session = row.delegateId && deps.sessions.find(row.delegateId);
    tx.afterCommit(() => {
      if (session) session.send({ kind: "cancel", task: toWire(row.id), epoch: row.epoch });
      // Another replica has the delegate, or it is not connected: then its next hello delivers the cancel.
      else deps.db.notify(CANCEL_CHANNEL, row.delegateId ?? "").catch(deps.onError);
    });
    return "asked";
  }

  return {
    async cancel(tx, task) {
      const row = await lockTaskOf(tx, task);
      return !row || row.status === "finished" ? "over" : cancelLocked(tx, row);
    },
    async cancelRun(tx, accountId, runId) {
      for (const row of await lockOpenTasks(tx, accountId, runId)) await cancelLocked(tx, row);
    },
    notified: (delegateId) => void sendCancels(deps, delegateId as Uuid).catch(deps.onError),
  };
}

/** Sends the cancels of the tasks that the delegate leases, if it is connected here. */
async function sendCancels({ db, clock, sessions }: CancelDeps, delegateId: Uuid): Promise<void> {
  const session = sessions.find(delegateId);
  if (!session) return;
  for (const task of await selectTasksLeasedTo(db, [session.delegate.id], clock.now() + 1)) {
    if (task.cancelling) session.send({ kind: "cancel", task: toWire(task.id), epoch: task.epoch });
  }
}

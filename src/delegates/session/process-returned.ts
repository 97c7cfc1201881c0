/**
 * Processes the message `returned`: a delegate returns a task that never started. The task becomes ready again and is
 * leased under the next epoch.
 */
import type { ToServer } from "../../../protocol/messages.ts";
import { problem } from "../problems.ts";
import type { Session } from "./sessions.ts";
import type { Dispatch } from "../tasks/dispatch.ts";
import { returnTask } from "../store/leases.ts";
import { closeTask, type TaskRow } from "../store/tasks.ts";
import { lockLeasedTask, findRunId, type ProcessDeps, type TaskResponse } from "./process-task-messages.ts";
import type { TaskEnd } from "../task.ts";

/** After this number of returns a task fails with the last reason. */
export const MAX_RETURNS = 10;

type Returned = Extract<ToServer, { kind: "returned" }>;
type ReturnDeps = ProcessDeps & {
  readonly dispatch: Pick<Dispatch, "tasksReturned">;
};

/** Always answers with `drop`: the task no longer belongs to the delegate. */
export async function processReturned(
  { dispatch, ...deps }: ReturnDeps,
  session: Session,
  message: Returned,
): Promise<TaskResponse> {
  const { accountId, name } = session.delegate;
  await deps.advancing(async (tx, lockRun) => {
    const runId = await findRunId(tx, session, message);
    const endTask = runId && (await lockRun(accountId, runId));
    const row = await lockLeasedTask(deps, tx, session, message);
    if (row?.status !== "leased") return;
    if (row.logOffset > 0) throw problem("delegate.illegal_message", ["a task with output was given back"]);
    const end = endInsteadOfReturn(row, name, message.reason);
    const lease = session.leasedTasks.get(row.id);
    session.leasedTasks.delete(row.id);
    if (lease) tx.afterRollback(() => session.leasedTasks.set(row.id, lease));
    if (end) {
      await closeTask(tx, { ...row, at: deps.clock.now() });
      await endTask?.({ ...row, delegateName: name }, end);
    } else {
      await returnTask(tx, row);
      tx.afterCommit(() => dispatch.tasksReturned(accountId, [row.runId]));
    }
  });
  return { kind: "drop", task: message.task, epoch: message.epoch };
}

/** Undefined if the task is leased again. */
function endInsteadOfReturn(row: TaskRow, delegate: string, reason: string): TaskEnd | undefined {
  if (row.cancelling) return { kind: "cancelled", survivors: 0 };
  if (row.returns + 1 < MAX_RETURNS) return undefined;
  const message = `The step was given back ${MAX_RETURNS} times before it started, at last by delegate ${delegate}: ${reason}`;
  return { kind: "lost", type: "DelegateProvisioning", message: message.slice(0, 1024) };
}

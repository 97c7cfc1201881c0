/**
 * Sends a leased task to its delegate. dispatch.ts decides which delegate; kinds/ puts the secrets in.
 */
import { fromWire } from "../../core/ids.ts";
import type { DeliverDeps, Prepared, Recipient, Run } from "../kinds/kind.ts";
import { kindOf } from "../kinds/table.ts";
import type { Session } from "../session/sessions.ts";
import type { Work } from "../task.ts";

/** A task for a delegate, with its secrets by name. */
export type RunOrder = Run & { readonly kind: "run"; readonly work: Work };

export const recipientOf = (session: Session): Recipient => ({
  accountId: session.delegate.accountId,
  send: session.send,
  sendAndFlush: session.sendAndFlush,
  endUnsentTask: session.endUnsentTask,
  close: session.close,
  verifyEntitlement: session.verifyEntitlement,
  isLeased: ({ task }) => {
    const id = fromWire(task);
    return id !== undefined && session.leasedTasks.has(id);
  },
});

/**
 * Sends a task to the delegate that leases it; `onUnsent` is called when it was certainly not sent. Work without
 * secrets is sent at once. Secrets are opened for this delegate now, if its token is valid at this moment, and only
 * messages contain them. If one is refused or cannot be opened, the task ends for that reason. If the database fails
 * or the program of a secret manager is overloaded, the delegate reconnects and gets the task again.
 */
export const deliver =
  (deps: DeliverDeps) =>
  (to: Recipient, { work, task, epoch }: RunOrder, onUnsent?: () => void): void => {
    const run = { task, epoch };
    const send = (prepared: Prepared): void => {
      // The task is no longer leased, so its secrets are not needed either.
      if (prepared === "over") to.send({ kind: "drop", ...run });
      else if (prepared === "unsent" || !to.send({ kind: "run", ...run, work: prepared })) onUnsent?.();
    };
    const failed = (error: unknown): void => {
      deps.onError(error);
      to.close();
    };
    try {
      const prepared = kindOf(work.kind).prepare({ deps, to, run }, work);
      if (prepared instanceof Promise) prepared.then(send).catch(failed);
      else send(prepared);
    } catch (error) {
      failed(error);
    }
  };

export type Deliver = ReturnType<typeof deliver>;

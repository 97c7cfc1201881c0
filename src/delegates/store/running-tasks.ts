/** The tasks that a delegate runs, for operators. */
import type { Capability } from "../../../protocol/versions.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";

export type RunningTask = {
  readonly id: Uuid;
  readonly runId: Uuid;
  readonly nodeId: Uuid;
  /** Kind and version of its work. */
  readonly capability: Capability;
  readonly leasedAt: number;
  readonly cancelling: boolean;
};

/** The tasks that are leased to the delegate, those that it has had longest first. */
export const selectRunningTasks = (
  db: Store,
  { accountId, delegateId }: { readonly accountId: Uuid; readonly delegateId: Uuid },
  { limit, offset }: Window,
): Promise<RunningTask[]> =>
  db.query<RunningTask>(
    `select id, run_id as "runId", node_id as "nodeId", capability, leased_at as "leasedAt", cancelling from tasks
      where account_id = $1 and delegate_id = $2 and status = 'leased' order by leased_at, id limit $3 offset $4`,
    [accountId, delegateId, limit, offset],
  );

import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import type { Advance } from "./advance.ts";
import { findDueTimers, takeTimer } from "./store/executions.ts";

/** Tells the engine of every timer that is due; of several replicas, one takes each. Run about once a second. */
export const makeFireTimers =
  (deps: { db: Db; clock: Clock; advance: Pick<Advance, "lock"> }) => async (): Promise<void> => {
    const at = deps.clock.now();
    for (const timer of await findDueTimers(deps.db, at)) {
      await deps.db.transaction(async (tx) => {
        // Locks the execution first, as every other event does; the other order could deadlock with them.
        const run = { accountId: timer.accountId, id: timer.executionId };
        const give = await deps.advance.lock(tx, run);
        if (await takeTimer(tx, timer))
          await give?.({ kind: "timerFired", at, node: timer.nodeId, attempt: timer.attempt });
      });
    }
  };

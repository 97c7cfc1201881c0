import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import type { Advancing } from "./advancing/quarantine.ts";
import { FORMAT } from "../engine/index.ts";
import { findDueTimers, takeTimer, type DueTimer } from "./store/timers.ts";

/** Tells the engine of every timer that is due; of several replicas, one takes each. Run about once a second. */
export const makeFireTimers =
  (deps: { db: Db; clock: Clock; advancing: Advancing; onError: (error: unknown) => void }) =>
  async (): Promise<void> => {
    const at = deps.clock.now();
    const fire = (timer: DueTimer): Promise<void> =>
      deps.advancing(async (tx, lock) => {
        // Locks the execution first, as every other event does; the other order could deadlock with them.
        const run = await lock({ accountId: timer.accountId, id: timer.executionId });
        if (await takeTimer(tx, timer))
          await run?.give({ kind: "timerFired", at, node: timer.nodeId, purpose: timer.purpose });
      });
    // One run that cannot be advanced must not keep all others from timing out.
    for (const timer of await findDueTimers(deps.db, at, FORMAT)) await fire(timer).catch(deps.onError);
  };

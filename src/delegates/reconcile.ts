/** The slow poll behind the fast paths: what a lost message, a lost replica or a lost delegate left behind. */
import { HEARTBEAT_MS, HELLO_MS } from "../../protocol/messages.ts";
import { toWire } from "../core/ids.ts";
import type { Connections } from "./connections.ts";
import { LOST_AFTER_MS } from "./delegate.ts";
import type { Dispatch } from "./enqueue.ts";
import type { Sessions } from "./sessions.ts";
import type { Standing } from "./standing.ts";
import { findLost, leasedTo } from "./store/tasks.ts";
import { endAsLost, type TakeDeps } from "./take-messages.ts";

/** A connection without a life sign for so long is half open at best: it gets no more tasks, the delegate connects anew. */
const SILENT_MS = 3 * HEARTBEAT_MS;
/** Leases younger than this may still be on their way to the session's own list. */
const SETTLED_MS = 10_000;

type ReconcileDeps = TakeDeps & {
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly standing: Pick<Standing, "refreshAll">;
  readonly onError: (error: unknown) => void;
};

export function makeReconcile(deps: ReconcileDeps) {
  const since = deps.clock.now();

  /**
   * Ends the attempts of delegates that were not heard of for LOST_AFTER_MS.
   * A server that has just started waits as long first: while no server ran,
   * nobody could have heard of them.
   */
  async function endLost(now: number): Promise<void> {
    if (now - since < LOST_AFTER_MS) return;
    for (const lost of await findLost(deps.db, now - LOST_AFTER_MS)) {
      // One run that cannot be ended must not keep all others waiting; it is tried again next time.
      await endAsLost(deps, lost, {
        kind: "lost",
        type: "DelegateRestart",
        message: `Delegate ${lost.delegate} was not heard of for ${LOST_AFTER_MS / 1000} s.`,
      }).catch(deps.onError);
    }
  }

  function closeSilent(now: number): void {
    for (const connection of deps.connections.all())
      if (!connection.greeted && now - connection.since > HELLO_MS) connection.end();
    for (const session of deps.sessions.all()) {
      if (now - session.heardAt <= SILENT_MS) continue;
      deps.sessions.closed(session);
      session.close();
    }
  }

  /** A task that the database leases to a connected delegate, but its session does not know: connect anew and settle it. */
  async function checkSessions(now: number): Promise<void> {
    const sessions = deps.sessions.all();
    if (sessions.length === 0) return;
    const leased = await leasedTo(
      deps.db,
      sessions.map((one) => one.delegate.id),
      now - SETTLED_MS,
    );
    for (const task of leased) {
      const session = deps.sessions.of(task.delegateId);
      if (!session) continue;
      if (!session.held.has(task.id)) session.close();
      else if (task.cancelling) session.send({ kind: "cancel", task: toWire(task.id), epoch: task.epoch });
    }
  }

  return async (): Promise<void> => {
    const now = deps.clock.now();
    closeSilent(now);
    await deps.standing.refreshAll();
    deps.dispatch.readyNotified("");
    await checkSessions(now);
    await endLost(now);
  };
}

/** The slow poll behind the fast paths: repairs the effects of lost messages, replicas and delegates. */
import { HEARTBEAT_MS, HELLO_MS } from "../../../protocol/messages.ts";
import { toWire } from "../../core/ids.ts";
import type { Connections } from "../session/connections.ts";
import { LOST_AFTER_MS } from "../delegate.ts";
import type { Dispatch } from "./dispatch.ts";
import type { SilenceTracker } from "../session/silence-tracker.ts";
import type { Session, Sessions } from "../session/sessions.ts";
import type { StateRefresher } from "../session/state-refresher.ts";
import { findTaskHolders, findTasksOfSilent } from "../store/silent.ts";
import { selectTasksLeasedTo } from "../store/leases.ts";
import { endLostTask, type ProcessDeps } from "../session/process-task-messages.ts";

/**
 * A session without messages for this time gets a ping; one whose heartbeats cannot be stored for this time is
 * closed.
 */
const SILENT_MS = 3 * HEARTBEAT_MS;
/** Without an answer in this time the connection is half open: it is closed, and the delegate reconnects. */
const ANSWER_MS = 5_000;
/** Newer leases may not be in the session's list yet. */
const SETTLED_MS = 10_000;

type ReconcileDeps = ProcessDeps & {
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly stateRefresher: Pick<StateRefresher, "refreshAll">;
  readonly silenceTracker: Pick<SilenceTracker, "findSilent">;
  readonly onError: (error: unknown) => void;
};

export function createReconcile(deps: ReconcileDeps) {
  /** Ends the attempts of delegates that are silent for LOST_AFTER_MS and have no session here. */
  async function endLost(): Promise<void> {
    const silent = deps.silenceTracker.findSilent(await findTaskHolders(deps.db));
    const lost = silent.filter(({ delegateId }) => !deps.sessions.find(delegateId));
    if (lost.length === 0) return;
    for (const task of await findTasksOfSilent(deps.db, lost)) {
      // A run that cannot be ended must not block the others; the next poll tries it again.
      await endLostTask(deps, task, {
        kind: "lost",
        type: "DelegateRestart",
        message: `Delegate ${task.delegate} was not heard of for ${LOST_AFTER_MS / 1000} s.`,
      }).catch(deps.onError);
    }
  }

  /**
   * Pings a session that was silent for SILENT_MS. Returns false if the delegate does not answer or cannot be saved.
   */
  function checkLiveness(session: Session, now: number): boolean {
    if (session.heartbeatUnsavedSince !== undefined && now - session.heartbeatUnsavedSince > SILENT_MS) return false;
    if (now - session.lastReceivedAt <= SILENT_MS) return true;
    if (session.lastPingAt !== undefined && session.lastPingAt > session.lastReceivedAt)
      return now - session.lastPingAt < ANSWER_MS;
    session.lastPingAt = now;
    session.ping();
    return true;
  }

  /** Needs no database: while it is unreachable, delegates should connect to a server that reaches it. */
  function closeDead(): void {
    const now = deps.clock.elapsed();
    for (const connection of deps.connections.all())
      if (!connection.isHelloReceived && now - connection.openedAt > HELLO_MS) connection.end();
    for (const session of deps.sessions.all()) {
      if (checkLiveness(session, now)) continue;
      deps.sessions.remove(session);
      session.close();
    }
  }

  /**
   * A task that the database leases to a connected delegate and its session does not know: the delegate reconnects
   * and settles it.
   */
  async function checkSessions(): Promise<void> {
    const sessions = deps.sessions.all();
    if (sessions.length === 0) return;
    const leased = await selectTasksLeasedTo(
      deps.db,
      sessions.map((one) => one.delegate.id),
      deps.clock.now() - SETTLED_MS,
    );
    for (const task of leased) {
      const session = deps.sessions.find(task.delegateId);
      if (!session) continue;
      if (!session.leasedTasks.has(task.id)) session.close();
      else if (task.cancelling) session.send({ kind: "cancel", task: toWire(task.id), epoch: task.epoch });
    }
  }

  return {
    closeDead,
    reconcile: async (): Promise<void> => {
      closeDead();
      await deps.stateRefresher.refreshAll();
      deps.dispatch.readyNotified("");
      await checkSessions();
      await endLost();
    },
  };
}

/**
 * Applies edited tags, approvals, deletions and revoked tokens to the affected sessions and connections: here after
 * the commit, on other replicas by NOTIFY, and by the slow poll if a notification was missed (invariant 9).
 */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { outsideShares } from "../../platform/db/pool/budget.ts";
import type { Connection, Connections } from "./connections.ts";
import type { Dispatch } from "../tasks/dispatch.ts";
import type { Session, Sessions } from "./sessions.ts";
import { endedTokens, statesOf, type DelegateState } from "../store/token-validity.ts";

export const STATES_CHANNEL = "railhead_delegates_changed";

type StateRefresherDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly onError: (error: unknown) => void;
};

type Affected = { readonly connections?: readonly Connection[]; readonly sessions?: readonly Session[] };
type Batch = { readonly connections: Set<Connection>; readonly sessions: Set<Session>; readonly done: Promise<void> };

export function createStateRefresher(deps: StateRefresherDeps) {
  const { db, connections, sessions, onError } = deps;
  // Refreshes run sequentially: of two concurrent ones, the one that read first could write last.
  let lastBatch: Promise<void> = Promise.resolve();
  // All requests that wait for the running refresh become one, so that many connections do not delay a revocation.
  let waitingBatch: Batch | undefined;

  function refresh(affected: Affected): Promise<void> {
    waitingBatch ??= queueBatch();
    for (const connection of affected.connections ?? []) waitingBatch.connections.add(connection);
    for (const session of affected.sessions ?? []) waitingBatch.sessions.add(session);
    return waitingBatch.done;
  }

  function queueBatch(): Batch {
    const batch = { connections: new Set<Connection>(), sessions: new Set<Session>() };
    const done = lastBatch.then(() => {
      waitingBatch = undefined;
      // Those of all delegates wait for it, so it does not wait in the share of one.
      return outsideShares(() => applyStates(deps, batch));
    });
    // An error is reported once, not for each request of the batch.
    lastBatch = done.catch(onError);
    return { ...batch, done };
  }

  async function applyChange(id: Uuid): Promise<void> {
    db.notify(STATES_CHANNEL, id).catch(onError);
    // An error has been reported; the slow poll tries again.
    await refresh(affectedBy([id])).catch(() => undefined);
  }

  const allOpen = (): Affected => ({ connections: connections.all(), sessions: sessions.all() });
  /** Ids of delegates or tokens. */
  const affectedBy = (ids: readonly Uuid[]): Affected => ({
    connections: connections.ofTokens(new Set(ids)),
    sessions: ids.flatMap((id) => sessions.find(id) ?? []),
  });

  return {
    /**
     * Called for a new connection, because a token that was revoked during authentication found no connection to end.
     */
    connectionOpened: (connection: Connection): void => void refresh({ connections: [connection] }),
    /** Called for a new session, because tags that changed during the hello found no session to update. */
    sessionOpened: (session: Session): Promise<void> => refresh({ sessions: [session] }),
    refreshAll: (): Promise<void> => refresh(allOpen()),
    /** The payload has ids of delegates or tokens; an empty one means that notifications may have been missed. */
    notified: (payload: string): void => {
      void refresh(payload === "" ? allOpen() : affectedBy(payload.split(" ") as Uuid[]));
    },
    /** Called after a commit that changed this delegate or this token. */
    changed: (id: Uuid): void => void applyChange(id),
    /** The same; resolves when the change has effect here. */
    applyChange,
  };
}

export type StateRefresher = ReturnType<typeof createStateRefresher>;

/** Reads the states of tokens and delegates, and applies them to the connections and sessions that are still open. */
async function applyStates(deps: StateRefresherDeps, affected: Omit<Batch, "done">): Promise<void> {
  await endRevoked(deps, [...affected.connections].filter(deps.connections.isOpen));
  await updateSessions(deps, [...affected.sessions].filter(deps.sessions.isOpen));
}

async function endRevoked(
  { db, clock }: Pick<StateRefresherDeps, "db" | "clock">,
  open: readonly Connection[],
): Promise<void> {
  if (open.length === 0) return;
  const tokens = new Map(open.map(({ accountId, tokenId }) => [tokenId, { accountId, tokenId }]));
  const ended = await endedTokens(db, [...tokens.values()], clock.now());
  for (const connection of open) if (ended.has(connection.tokenId)) connection.end();
}

async function updateSessions(deps: StateRefresherDeps, open: readonly Session[]): Promise<void> {
  if (open.length === 0) return;
  const delegates = open.map(({ delegate }) => delegate);
  for (const state of await statesOf(deps.db, delegates)) {
    const session = deps.sessions.find(state.id);
    if (session) updateSession(deps, session, state);
  }
}

function updateSession(
  { sessions, dispatch }: Pick<StateRefresherDeps, "sessions" | "dispatch">,
  session: Session,
  { tags, status }: DelegateState,
): void {
  if (status === "DELETED") {
    // Removed at once, so that no task is leased to it while the socket closes.
    sessions.remove(session);
    session.close();
    return;
  }
  const hasOtherTags = sessions.updateTags(session, tags);
  const isNewlyEnabled = status === "ENABLED" && sessions.enable(session);
  if (hasOtherTags || isNewlyEnabled) dispatch.sessionChanged(session);
}

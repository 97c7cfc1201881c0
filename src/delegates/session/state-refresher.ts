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
import { endedTokens, statesOf, type DelegateState } from "../store/standing.ts";

export const STATES_CHANNEL = "railhead_delegates_changed";

type StateRefresherDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly connections: Connections;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly onError: (error: unknown) => void;
};

type Concerned = { readonly connections?: readonly Connection[]; readonly sessions?: readonly Session[] };
type Batch = { readonly connections: Set<Connection>; readonly sessions: Set<Session>; readonly done: Promise<void> };

export function createStateRefresher({ db, clock, connections, sessions, dispatch, onError }: StateRefresherDeps) {
  // Refreshes run sequentially: of two concurrent ones, the one that read first could write last.
  let turn: Promise<void> = Promise.resolve();
  // All requests that wait for the running refresh become one, so that many connections do not delay a revocation.
  let waiting: Batch | undefined;
  const refresh = ({ connections: opened = [], sessions: begun = [] }: Concerned): Promise<void> => {
    waiting ??= nextBatch();
    for (const connection of opened) waiting.connections.add(connection);
    for (const session of begun) waiting.sessions.add(session);
    return waiting.done;
  };

  function nextBatch(): Batch {
    const concerned = { connections: new Set<Connection>(), sessions: new Set<Session>() };
    const done = turn.then(() => {
      waiting = undefined;
      // Those of all delegates wait for it, so it does not wait in the share of one.
      return outsideShares(() => bringUpToDate(concerned));
    });
    // An error is reported once, not for each request of the batch.
    turn = done.catch(onError);
    return { ...concerned, done };
  }

  async function bringUpToDate(concerned: Omit<Batch, "done">): Promise<void> {
    await endRevoked([...concerned.connections].filter(connections.isOpen));
    await renewStates([...concerned.sessions].filter(sessions.isOpen));
  }

  async function endRevoked(open: readonly Connection[]): Promise<void> {
    if (open.length === 0) return;
    const tokens = new Map(open.map(({ accountId, tokenId }) => [tokenId, { accountId, tokenId }]));
    const ended = await endedTokens(db, [...tokens.values()], clock.now());
    for (const connection of open) if (ended.has(connection.tokenId)) connection.end();
  }

  async function renewStates(open: readonly Session[]): Promise<void> {
    if (open.length === 0) return;
    for (const state of await statesOf(
      db,
      open.map(({ delegate }) => delegate),
    )) {
      const session = sessions.of(state.id);
      if (session) renewState(session, state);
    }
  }

  function renewState(session: Session, { tags, status }: DelegateState): void {
    if (status === "DELETED") {
      // Removed at once, so that no task is leased to it while the socket closes.
      sessions.closed(session);
      session.close();
      return;
    }
    const isRetagged = sessions.retag(session, tags);
    const isEnabled = status === "ENABLED" && sessions.enable(session);
    if (isRetagged || isEnabled) dispatch.retagged(session);
  }

  async function applyChange(id: Uuid): Promise<void> {
    db.notify(STATES_CHANNEL, id).catch(onError);
    // An error has been reported; the slow poll tries again.
    await refresh(here([id])).catch(() => undefined);
  }

  const everybody = (): Concerned => ({ connections: connections.all(), sessions: sessions.all() });
  /** Ids of delegates or tokens. */
  const here = (ids: readonly Uuid[]): Concerned => ({
    connections: connections.ofTokens(new Set(ids)),
    sessions: ids.flatMap((id) => sessions.of(id) ?? []),
  });

  return {
    /**
     * Called for a new connection, because a token that was revoked during authentication found no connection to end.
     */
    admitted: (connection: Connection): void => void refresh({ connections: [connection] }),
    /** Called for a new session, because tags that changed during the hello found no session to update. */
    check: (session: Session): Promise<void> => refresh({ sessions: [session] }),
    refreshAll: (): Promise<void> => refresh(everybody()),
    /** The payload has ids of delegates or tokens; an empty one means that notifications may have been missed. */
    notified: (payload: string): void => {
      void refresh(payload === "" ? everybody() : here(payload.split(" ") as Uuid[]));
    },
    /** Called after a commit that changed this delegate or this token. */
    changed: (id: Uuid): void => void applyChange(id),
    /** The same; resolves when the change has effect here. */
    applyChange,
  };
}

export type StateRefresher = ReturnType<typeof createStateRefresher>;

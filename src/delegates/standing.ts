/**
 * Tags that were edited and tokens that were revoked, carried to the sessions they concern: here at once after the
 * commit, on other replicas by NOTIFY, and by the slow poll when that was missed (law 9).
 */
import type { Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import type { Dispatch } from "./enqueue.ts";
import type { Session, Sessions } from "./sessions.ts";
import { standingOf } from "./store/registry.ts";

export const STANDING_CHANNEL = "railhead_delegates_changed";

type StandingDeps = {
  readonly db: Db;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly onError: (error: unknown) => void;
};

export function makeStanding({ db, sessions, dispatch, onError }: StandingDeps) {
  // One after the other: of two at once, the one that read first could have the last word.
  let turn: Promise<void> = Promise.resolve();
  const refresh = (open: readonly Session[]): Promise<void> => {
    const mine = turn.then(() => bringUpToDate(open));
    turn = mine.catch(() => undefined);
    return mine;
  };

  /** New selectors, or the end. */
  async function bringUpToDate(open: readonly Session[]): Promise<void> {
    if (open.length === 0) return;
    for (const { id, tags, revoked } of await standingOf(
      db,
      open.map(({ delegate }) => delegate),
    )) {
      const session = sessions.of(id);
      if (!session) continue;
      if (revoked) {
        sessions.closed(session);
        session.close();
      } else if (sessions.retag(session, tags)) dispatch.retagged(session);
    }
  }
  const here = (ids: readonly Uuid[]): readonly Session[] => ids.flatMap((id) => sessions.of(id) ?? []);

  return {
    /** Of a session just opened: what changed while its hello was being taken found no session to tell. */
    check: (session: Session): Promise<void> => refresh([session]),
    refreshAll: (): Promise<void> => refresh(sessions.all()),
    /** The payload of a notification: ids with blanks between; none means that some were missed. */
    notified: (payload: string): void => {
      refresh(payload === "" ? sessions.all() : here(payload.split(" ") as Uuid[])).catch(onError);
    },
    /** After a commit that changed what counts for these delegates. */
    changed: (ids: readonly Uuid[]): void => {
      refresh(here(ids)).catch(onError);
      // NOTIFY carries at most 8000 bytes.
      for (let at = 0; at < ids.length; at += 190)
        db.notify(STANDING_CHANNEL, ids.slice(at, at + 190).join(" ")).catch(onError);
    },
  };
}

export type Standing = ReturnType<typeof makeStanding>;

import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../core/clock.ts";
import type { Db } from "../../platform/db/db.ts";
import type { SessionGuard } from "./session-guard.ts";
import type { Lifetimes, Session } from "./session.ts";
import { selectSessions } from "../store/sessions.ts";

export type ListedSession = Session & {
  /** Whether it is the session of this request. */
  readonly current: boolean;
};
type Deps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly sessionGuard: Pick<SessionGuard, "requireWithOneTimePassword">;
};

/** Lists the person's own sessions, newest first. */
export const listSessions =
  ({ db, clock, lifetimes, sessionGuard }: Deps) =>
  async (headers: IncomingHttpHeaders): Promise<readonly ListedSession[]> => {
    const { accountId, person, session } = await sessionGuard.requireWithOneTimePassword(headers);
    const now = clock.now();
    const found = await selectSessions(
      db,
      { accountId, userId: person.id },
      { now, seenAfter: now - lifetimes.idleMs },
    );
    return found.map((one) => ({ ...one, current: one.id === session.id }));
  };

export type ListSessions = ReturnType<typeof listSessions>;

import type { IncomingHttpHeaders } from "node:http";
import type { Audit } from "../../audit/index.ts";
import type { RequestFacts } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { SessionGuard, LiveSession } from "./session-guard.ts";
import { problem } from "../problems.ts";
import { actorOf } from "../password/sign-in.ts";
import { deleteSession, deleteSessionsOf } from "../store/sessions.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly sessionGuard: Pick<SessionGuard, "requireWithOneTimePassword">;
  /** Called inside the transaction; notifies after the commit. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

/** Ends the session of this request. */
export const signOut =
  (deps: Deps) =>
  async (headers: IncomingHttpHeaders, facts: RequestFacts): Promise<void> => {
    const live = await deps.sessionGuard.requireWithOneTimePassword(headers);
    await endOne(deps, live, { id: live.session.id, facts });
  };

export type SignOut = ReturnType<typeof signOut>;

/** Ends one of the person's own sessions. Throws `login.not_found`. */
export const endSession =
  (deps: Deps) =>
  async (headers: IncomingHttpHeaders, text: string, facts: RequestFacts): Promise<void> => {
    const live = await deps.sessionGuard.requireWithOneTimePassword(headers);
    const id = fromWire(text);
    if (!id || !(await endOne(deps, live, { id, facts }))) throw problem("login.not_found");
  };

export type EndSession = ReturnType<typeof endSession>;

const endOne = (
  deps: Deps,
  live: LiveSession,
  { id, facts }: { readonly id: Uuid; readonly facts: RequestFacts },
): Promise<boolean> =>
  deps.db.transaction(async (tx) => {
    if (!(await deleteSession(tx, { accountId: live.accountId, userId: live.person.id, id }))) return false;
    await deps.audit.record(tx, actorOf(live.accountId, live.person, { facts }), {
      operation: "session.delete",
      resourceType: "SESSION",
      resourceId: toWire(id),
      scope: {},
      before: { user: toWire(live.person.id) },
    });
    deps.notifyCredentialsEnded(tx);
    return true;
  });

/** Ends all sessions of the person, including that of this request. */
export const signOutEverywhere =
  (deps: Deps) =>
  async (headers: IncomingHttpHeaders, facts: RequestFacts): Promise<{ readonly ended: number }> => {
    const live = await deps.sessionGuard.requireWithOneTimePassword(headers);
    return deps.db.transaction(async (tx) => {
      const ended = await deleteSessionsOf(tx, { accountId: live.accountId, userId: live.person.id });
      await deps.audit.record(tx, actorOf(live.accountId, live.person, { facts }), {
        operation: "session.delete-all",
        resourceType: "USER",
        resourceId: toWire(live.person.id),
        scope: {},
        before: { sessions: ended },
        after: { sessions: 0 },
      });
      deps.notifyCredentialsEnded(tx);
      return { ended };
    });
  };

export type SignOutEverywhere = ReturnType<typeof signOutEverywhere>;

/** Sign-in of people: passwords, sessions and single sign-on (docs/api/login.md). */
import type { RemovedReference } from "../platform/removed-reference.ts";
import type { Authorize, GrantsOf, PreventEscalationTo } from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import type { OidcConfig } from "../platform/config/oidc.ts";
import type { RevalidateActor, User } from "../identity/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { MayReach } from "../platform/outgoing/reach.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { createAttempts } from "./password/attempts.ts";
import { keyOfPerson } from "./password/back-off.ts";
import { changePassword } from "./password/change-password.ts";
import { createCookies } from "./session/cookies.ts";
import { createDevices } from "./password/devices.ts";
import { createSessionGuard } from "./session/session-guard.ts";
import { createHashQueue } from "./password/hash-queue.ts";
import {
  allowLinkByEmail,
  listOwnIdentities,
  listUserIdentities,
  unlinkOwnIdentity,
  unlinkUserIdentity,
} from "./oidc/identities.ts";
import { createProvider } from "./oidc/provider.ts";
import { singleSignOnRoutes } from "./oidc/routes.ts";
import type { OidcDeps } from "./oidc/sign-in.ts";
import { createTransactions } from "./oidc/transaction.ts";
import { acceptInvitation, checkInvitation } from "./invitation/accept.ts";
import { createInvitation } from "./invitation/create.ts";
import { listInvitations, revokeInvitation } from "./invitation/manage.ts";
import { setOneTimePassword } from "./password/one-time-password.ts";
import { invitationRoutes } from "./rest/invitations.ts";
import { passwordRoutes } from "./rest/passwords.ts";
import { listSessions } from "./session/list-sessions.ts";
import { registerLoginPages } from "./pages.ts";
import type { People } from "./people.ts";
import { loginRoutes } from "./rest/sessions.ts";
import { findSessionActor } from "./session/session-actor.ts";
import type { Lifetimes } from "./session/session.ts";
import { signIn } from "./password/sign-in.ts";
import { endSession, signOut, signOutEverywhere } from "./session/sign-out.ts";
import { selectPausedSubjects } from "./store/failures.ts";
import { disallowLink } from "./store/identities.ts";
import { deleteInvitation } from "./store/invitations.ts";
import { deleteSessionsOf, selectValidSessions } from "./store/sessions.ts";
import { createSweep } from "./sweep.ts";

export { resetPassword, type Reset } from "./password/reset-password.ts";
export type { Lifetimes } from "./session/session.ts";

export type LoginDeps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly keys: KeyRing;
  readonly people: People;
  readonly grantsOf: GrantsOf;
  readonly authorize: Authorize;
  readonly preventEscalationToUser: PreventEscalationTo;
  readonly revalidateActor: RevalidateActor;
  readonly log: Log;
  /** Undefined without single sign-on. */
  readonly oidc: OidcConfig | undefined;
  readonly mayReach: MayReach;
  readonly lifetimes: Lifetimes;
  readonly publicUrl: () => string;
  /**
   * Notifies every replica after the commit that credentials have ended. Each of them then calls the listeners of
   * `onEnded`.
   */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
  readonly onEnded: (listener: () => void) => void;
};

type UserKey = { readonly accountId: Uuid; readonly id: Uuid };
type SessionId = { readonly accountId: Uuid; readonly id: Uuid };

/** Without `oidc` there is no single sign-on. */
export function createLogin(deps: LoginDeps) {
  const { db, clock, publicUrl } = deps;
  const cookies = createCookies(publicUrl);
  const devices = createDevices({ keys: deps.keys, cookies });
  const sessionGuard = createSessionGuard({ ...deps, cookies });
  const signInDeps = { ...deps, attempts: createAttempts(deps), devices, enqueueHash: createHashQueue(clock.elapsed) };
  deps.onEnded(sessionGuard.clearCache);
  const sessionDeps = { ...signInDeps, sessionGuard };
  const sso = deps.oidc && singleSignOn({ ...signInDeps, oidc: deps.oidc, sessionGuard, cookies });
  const identityDeps = { ...deps, sessionGuard };

  return {
    routes: [
      ...singleSignOnRoutes({ sso, sessionGuard, publicUrl }),
      ...passwordRoutes({ setOneTime: setOneTimePassword(signInDeps) }),
      ...invitationRoutes({
        create: createInvitation(deps),
        list: listInvitations(deps),
        revoke: revokeInvitation(deps),
        check: checkInvitation(signInDeps),
        accept: acceptInvitation(signInDeps),
        answers: { provider: sso?.provider, cookies, devices, now: clock.now },
        publicUrl,
      }),
      ...loginRoutes({
        signIn: signIn(signInDeps),
        changePassword: changePassword(sessionDeps),
        signOut: signOut(sessionDeps),
        endSession: endSession(sessionDeps),
        signOutEverywhere: signOutEverywhere(sessionDeps),
        listSessions: listSessions(sessionDeps),
        identities: {
          listOwn: listOwnIdentities(identityDeps),
          unlinkOwn: unlinkOwnIdentity(identityDeps),
          list: listUserIdentities(identityDeps),
          allowLink: allowLinkByEmail(identityDeps),
          unlink: unlinkUserIdentity(identityDeps),
        },
        provider: sso?.provider,
        sessionGuard,
        cookies,
        devices,
        now: clock.now,
        publicUrl,
      }),
    ],
    registerPages: registerLoginPages,
    sessionOf: findSessionActor({ find: sessionGuard.findCredential, grantsOf: deps.grantsOf }),
    sessionOfLink: findSessionActor({ find: sessionGuard.findCredentialOfLink, grantsOf: deps.grantsOf }),
    /** Ends all sessions of the user, the invitation, and the permission to link by e-mail. */
    async endSessions(tx: Tx, { accountId, id }: UserKey): Promise<readonly RemovedReference[]> {
      const count = await deleteSessionsOf(tx, { accountId, userId: id });
      await disallowLink(tx, accountId, id);
      await deleteInvitation(tx, { accountId, userId: id });
      deps.notifyCredentialsEnded(tx);
      return count === 0 ? [] : [{ type: "SESSION", count, identifiers: [] }];
    },
    /** Ends the invitation and the permission to link by e-mail, which were given for the user's previous address. */
    async onEmailChanged(tx: Tx, { accountId, id }: UserKey): Promise<void> {
      await disallowLink(tx, accountId, id);
      await deleteInvitation(tx, { accountId, userId: id });
    },
    /** Those of the people whose sign-in from an unknown browser is paused now. */
    async findLockedUsers(accountId: Uuid, people: readonly Pick<User, "id" | "email">[]): Promise<ReadonlySet<Uuid>> {
      const keys = people.map(({ email }) => keyOfPerson(email));
      const paused = await selectPausedSubjects(db, { accountId, keys }, clock.now());
      return new Set(people.filter((_person, at) => paused.includes(keys[at] ?? "")).map(({ id }) => id));
    },
    /** Those of the sessions that are valid now. Streams of the others are closed. */
    findValidSessions: (
      sessions: readonly SessionId[],
      now: number,
      tx: Pick<Tx, "query"> = db,
    ): Promise<readonly Uuid[]> => selectValidSessions(tx, sessions, { now, seenAfter: now - deps.lifetimes.idleMs }),
    sweep: createSweep(deps),
  };
}

type SingleSignOn = Omit<OidcDeps, "provider" | "transactions" | "linkByEmail"> &
  Pick<LoginDeps, "keys" | "mayReach"> & { readonly oidc: OidcConfig };

const singleSignOn = ({ oidc, ...deps }: SingleSignOn): OidcDeps => ({
  ...deps,
  provider: createProvider(oidc, deps.mayReach, deps.clock.now),
  transactions: createTransactions(deps),
  linkByEmail: oidc.linkByEmail,
});

import type { IncomingHttpHeaders } from "node:http";
import { toWire } from "../../core/ids.ts";
import { hashPassword, passwordMatches } from "../../platform/crypto/passwords.ts";
import type { Tx } from "../../platform/db/db.ts";
import { subjectOfChange } from "./back-off.ts";
import type { SessionGuard } from "../session/session-guard.ts";
import { openSession, type Visitor } from "../session/open-session.ts";
import { passwordFault } from "./password-rules.ts";
import { problem } from "../problems.ts";
import { actorOf, recordRefusal, type SignedIn, type SignInDeps } from "./sign-in.ts";
import { identitiesKeptOf } from "./reset-password.ts";
import { listIdentities } from "../store/identities.ts";
import { deleteSessionsOf, selectSession } from "../store/sessions.ts";

export type PasswordChange = { readonly currentPassword: string; readonly newPassword: string };
export type ChangeDeps = SignInDeps & {
  readonly sessionGuard: Pick<SessionGuard, "requireWithOneTimePassword">;
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

/**
 * Changes the caller's password. All sessions of the person end; the calling browser gets a new one. Wrong current
 * passwords cause pauses as wrong sign-ins do. Throws `login.no_password`, `login.wrong_current`,
 * `login.weak_password`, `login.busy`.
 */
export const changePassword =
  (deps: ChangeDeps) =>
  async (
    { currentPassword, newPassword }: PasswordChange,
    headers: IncomingHttpHeaders,
    visitor: Visitor,
  ): Promise<SignedIn> => {
    const { accountId, person, session } = await deps.sessionGuard.requireWithOneTimePassword(headers);
    const was = person.passwordHash;
    if (was === null) throw problem("login.no_password");
    const subjects = [subjectOfChange(person.id)];
    const signedIn = { kind: "signed-in", id: person.id } as const;
    const isRight = await deps.enqueueHash(signedIn, async () => {
      await deps.attempts.begin(accountId, subjects);
      return passwordMatches(currentPassword, was);
    });
    if (!isRight) {
      const refused = problem("login.wrong_current");
      await deps.db.transaction((tx) => recordRefusal(tx, deps, { accountId, typed: person.email, refused, visitor }));
      throw refused;
    }
    await deps.attempts.succeed(accountId, subjects);
    const fault = newPassword === currentPassword ? "is the one that it replaces" : passwordFault(newPassword, person);
    if (fault !== undefined) throw problem("login.weak_password", [fault]);
    const hash = await deps.enqueueHash(signedIn, () => hashPassword(newPassword));
    return deps.db.transaction(async (tx) => {
      // Another change, for example by an administrator, was committed first: that password counts.
      if (!(await deps.people.savePassword(tx, accountId, { id: person.id, hash, mustChange: false, was })))
        throw problem("login.wrong_current");
      // Hashing may wait for seconds. The person may have ended this session from another browser meanwhile.
      if (!(await selectSession(tx, accountId, session.id))) throw problem("login.no_session");
      const ended = await deleteSessionsOf(tx, { accountId, userId: person.id });
      const opened = await openSession(tx, deps, {
        accountId,
        userId: person.id,
        method: session.method,
        visitor,
      });
      const identities = await listIdentities(tx, accountId, person.id);
      await deps.audit.record(tx, actorOf(accountId, person, visitor), {
        operation: "password.change",
        resourceType: "USER",
        resourceId: toWire(person.id),
        scope: {},
        before: { mustChangePassword: person.mustChangePassword, sessions: ended },
        after: {
          mustChangePassword: false,
          sessions: 1,
          passwordChangedAt: deps.clock.now(),
          ...identitiesKeptOf(identities),
        },
      });
      deps.notifyCredentialsEnded(tx);
      return { opened, person: { ...person, passwordHash: hash, mustChangePassword: false } };
    });
  };

export type ChangePassword = ReturnType<typeof changePassword>;

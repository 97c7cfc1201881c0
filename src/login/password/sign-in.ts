import type { IncomingHttpHeaders } from "node:http";
import type { Audit } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Problem } from "../../core/problem.ts";
import { hashPassword, isOutdated, passwordMatches } from "../../platform/crypto/passwords.ts";
import { parseEmail } from "../../identity/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Attempts } from "./attempts.ts";
import { attemptSubjects } from "./back-off.ts";
import type { Devices } from "./devices.ts";
import type { EnqueueHash } from "./hash-queue.ts";
import { openSession, type OpenedSession, type Visitor } from "../session/open-session.ts";
import type { People, Person } from "../people.ts";
import { problem } from "../problems.ts";
import type { Lifetimes, SignInMethod } from "../session/session.ts";

export type Credentials = { readonly email: string; readonly password: string };

export type SignedIn = { readonly opened: OpenedSession; readonly person: Person };

export type SignInDeps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly people: People;
  readonly attempts: Attempts;
  readonly devices: Devices;
  readonly enqueueHash: EnqueueHash;
  readonly lifetimes: Lifetimes;
};

/**
 * Signs in with a password. Throws `login.refused`, the same for each cause and after the same work, and
 * `login.blocked` during a pause.
 */
export const signIn = (deps: SignInDeps) => {
  const attempt = async (typed: Credentials, headers: IncomingHttpHeaders, visitor: Visitor): Promise<SignedIn> => {
    const credentials = { ...typed, email: typed.email.trim() };
    const accountId = await deps.people.firstAccount();
    if (!accountId) throw problem("login.refused");
    const found = await deps.people.byEmail(accountId, credentials.email);
    const device = deps.devices.of(headers, accountId, found?.id);
    const subjects = attemptSubjects({ email: credentials.email, address: visitor.facts.remoteAddress, device });
    const visiting = { kind: "visitor", address: visitor.facts.remoteAddress } as const;
    // Counted when its turn comes: an attempt that is refused by the queue has not been made.
    const isRight = await deps.enqueueHash(visiting, async () => {
      await deps.attempts.begin(accountId, subjects);
      return passwordMatches(credentials.password, found?.passwordHash ?? undefined);
    });
    if (!isRight || !found) {
      const refused = problem("login.refused");
      await deps.db.transaction((tx) =>
        recordRefusal(tx, deps, { accountId, typed: credentials.email, refused, visitor }),
      );
      throw refused;
    }
    const person = await renewHash(deps, accountId, found, credentials.password);
    const opened = await deps.db.transaction((tx) =>
      enter(tx, deps, { accountId, person, method: "PASSWORD", visitor }),
    );
    // The password or the user has changed since the check.
    if (!opened) return attempt(credentials, headers, visitor);
    await deps.attempts.succeed(accountId, subjects);
    return { opened, person };
  };
  return attempt;
};

export type SignIn = ReturnType<typeof signIn>;

/** A person whose credentials are right, and the browser of the person. */
export type AuthenticatedSignIn = {
  readonly accountId: Uuid;
  readonly person: Person;
  readonly method: SignInMethod;
  readonly visitor: Visitor;
};

type EnterDeps = Pick<SignInDeps, "audit" | "clock" | "newId" | "lifetimes" | "people">;

/**
 * Opens and records the session of an authenticated person. Undefined if the person may not sign in now, or the
 * password has changed. Locks the person: a later change commits after this transaction, and ends this session, too.
 */
export async function enter(
  tx: Tx,
  deps: EnterDeps,
  { accountId, person, method, visitor }: AuthenticatedSignIn,
): Promise<OpenedSession | undefined> {
  const now = await deps.people.lock(tx, accountId, person.id);
  if (!now || (method === "PASSWORD" && now.passwordHash !== person.passwordHash)) return undefined;
  const opened = await openSession(tx, deps, { accountId, userId: person.id, method, visitor });
  await deps.audit.record(tx, actorOf(accountId, person, visitor), {
    operation: "session.create",
    resourceType: "SESSION",
    resourceId: toWire(opened.id),
    scope: {},
    after: { user: toWire(person.id), method, expiresAt: opened.expiresAt },
  });
  return opened;
}

/** The person as an actor of the audit trail, without grants. */
export const actorOf = (accountId: Uuid, { id, name, email }: Person, { facts }: Pick<Visitor, "facts">): Actor => ({
  kind: "user",
  accountId,
  id,
  name,
  email,
  grants: [],
  request: facts,
});

/** A failed sign-in: the typed or claimed e-mail address, and its refusal. */
export type RefusedSignIn = {
  readonly accountId: Uuid;
  readonly typed: string;
  readonly refused: Problem;
  readonly visitor: Pick<Visitor, "facts">;
};

/**
 * Records a refused sign-in. The actor is the system, since the caller is not authenticated. The resource is the typed
 * text only if it looks like an e-mail address: people type passwords there, and entries are never removed.
 */
export const recordRefusal = (
  tx: Tx,
  { audit }: Pick<SignInDeps, "audit">,
  { accountId, typed, refused: { code, status }, visitor: { facts } }: RefusedSignIn,
): Promise<void> =>
  audit.record(
    tx,
    { kind: "system", accountId, request: facts },
    {
      operation: "session.refuse",
      resourceType: "SESSION",
      resourceId: recordableEmail(typed),
      scope: {},
      refusal: { code, status },
    },
  );

/** The text if it is an address with a dot in its domain, which a password with an @ rarely has. */
function recordableEmail(typed: string): string {
  const email = parseEmail(typed);
  return email !== undefined && /@[^@]+\.[a-z]{2,}$/.test(email) ? email : "(no e-mail address)";
}

/**
 * Renews an outdated hash while the password is in memory. Returns the person with the stored hash, if that is known.
 */
async function renewHash(deps: SignInDeps, accountId: Uuid, person: Person, password: string): Promise<Person> {
  const { passwordHash: was, mustChangePassword: mustChange } = person;
  if (was === null || !isOutdated(was)) return person;
  const hash = await deps.enqueueHash({ kind: "signed-in", id: person.id }, () => hashPassword(password));
  const isSaved = await deps.people.savePassword(deps.db, accountId, { id: person.id, hash, mustChange, was });
  return isSaved ? { ...person, passwordHash: hash } : person;
}

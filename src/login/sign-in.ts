import type { IncomingHttpHeaders } from "node:http";
import type { Audit } from "../audit/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../core/ids.ts";
import type { Problem } from "../core/problem.ts";
import { hashPassword, isOutdated, passwordMatches } from "../platform/crypto/passwords.ts";
import { emailOf } from "../identity/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { Attempts } from "./attempts.ts";
import { subjectsOf } from "./back-off.ts";
import type { Devices } from "./devices.ts";
import type { HashInTurn } from "./hash-turns.ts";
import { openSession, type Opened, type Visitor } from "./open-session.ts";
import type { People, Person } from "./people.ts";
import { problem } from "./problems.ts";
import type { Lifetimes, SignInMethod } from "./session.ts";

export type Credentials = { readonly email: string; readonly password: string };

/** Throws `login.refused`, the same for whatever is wrong and after the same work, and `login.blocked` after many of those. */
export type SignIn = (credentials: Credentials, headers: IncomingHttpHeaders, visitor: Visitor) => Promise<SignedIn>;
export type SignedIn = { readonly opened: Opened; readonly person: Person };

export type SignInDeps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly people: People;
  readonly attempts: Attempts;
  readonly devices: Devices;
  readonly hashInTurn: HashInTurn;
  readonly lifetimes: Lifetimes;
};

export function signIn(deps: SignInDeps): SignIn {
  const signIn: SignIn = async (typed, headers, visitor) => {
    const credentials = { ...typed, email: typed.email.trim() };
    const accountId = await deps.people.firstAccount();
    if (!accountId) throw problem("login.refused");
    const found = await deps.people.byEmail(accountId, credentials.email);
    const device = deps.devices.of(headers, accountId, found?.id);
    const subjects = subjectsOf({ email: credentials.email, address: visitor.facts.remoteAddress, device });
    const visiting = { kind: "visitor", address: visitor.facts.remoteAddress } as const;
    // Counted only when its turn has come: whoever is sent away before has not tried.
    const isRight = await deps.hashInTurn(visiting, async () => {
      await deps.attempts.begin(accountId, subjects);
      return passwordMatches(credentials.password, found?.passwordHash ?? undefined);
    });
    if (!isRight || !found) {
      const refused = problem("login.refused");
      await deps.db.transaction((tx) =>
        recordRefusal(tx, deps, accountId, { typed: credentials.email, refused }, visitor),
      );
      throw refused;
    }
    const person = await renewHash(deps, accountId, found, credentials.password);
    const opened = await deps.db.transaction((tx) =>
      enter(tx, deps, { accountId, person, method: "PASSWORD" }, visitor),
    );
    // What was right a moment ago may be so no more.
    if (!opened) return signIn(credentials, headers, visitor);
    await deps.attempts.succeed(accountId, subjects);
    return { opened, person };
  };
  return signIn;
}

type Enter = Pick<SignInDeps, "audit" | "clock" | "newId" | "lifetimes" | "people">;

/**
 * Opens the session of somebody who has shown who they are, and records it. Undefined when that holds no more: they may
 * not sign in now, or the password is another. A change of either waits for the commit, and then ends this session too.
 */
export async function enter(
  tx: Tx,
  deps: Enter,
  who: { readonly accountId: Uuid; readonly person: Person; readonly method: SignInMethod },
  visitor: Visitor,
): Promise<Opened | undefined> {
  const { accountId, person, method } = who;
  const now = await deps.people.hold(tx, accountId, person.id);
  if (!now || (method === "PASSWORD" && now.passwordHash !== person.passwordHash)) return undefined;
  const opened = await openSession(tx, deps, { accountId, userId: person.id, method }, visitor);
  await deps.audit.record(tx, actorOf(accountId, person, visitor), {
    operation: "session.create",
    resourceType: "SESSION",
    resourceId: toWire(opened.id),
    scope: {},
    after: { user: toWire(person.id), method, expiresAt: opened.expiresAt },
  });
  return opened;
}

/** The person, for the trail alone: nothing is asked of it. */
export const actorOf = (accountId: Uuid, { id, name, email }: Person, { facts }: Pick<Visitor, "facts">): Actor => ({
  kind: "user",
  accountId,
  id,
  name,
  email,
  grants: [],
  request: facts,
});

/** A sign-in that failed: what was typed or claimed as an e-mail address, and what it was refused with. */
export type RefusedSignIn = { readonly typed: string; readonly refused: Problem };

/**
 * Records a sign-in that was refused. The actor is the system, since the caller has not proved an identity. The resource is
 * the e-mail as far as it looks like one: people type passwords there, and entries are never removed.
 */
export const recordRefusal = (
  tx: Tx,
  { audit }: Pick<SignInDeps, "audit">,
  accountId: Uuid,
  { typed, refused: { code, status } }: RefusedSignIn,
  { facts }: Pick<Visitor, "facts">,
): Promise<void> =>
  audit.record(
    tx,
    { kind: "system", accountId, request: facts },
    {
      operation: "session.refuse",
      resourceType: "SESSION",
      resourceId: shownAddress(typed),
      scope: {},
      refusal: { code, status },
    },
  );

/** An address has a domain with a dot, as a password with an @ in it hardly has. */
function shownAddress(typed: string): string {
  const email = emailOf(typed);
  return email !== undefined && /@[^@]+\.[a-z]{2,}$/.test(email) ? email : "(no e-mail address)";
}

/** With what is asked for now, while the password is at hand. Answers the person with the hash that is kept, as far as it is known. */
async function renewHash(deps: SignInDeps, accountId: Uuid, person: Person, password: string): Promise<Person> {
  const { passwordHash: was, mustChangePassword: mustChange } = person;
  if (was === null || !isOutdated(was)) return person;
  const hash = await deps.hashInTurn({ kind: "signed-in", id: person.id }, () => hashPassword(password));
  const isSaved = await deps.people.savePassword(deps.db, accountId, person.id, { hash, mustChange, was });
  return isSaved ? { ...person, passwordHash: hash } : person;
}

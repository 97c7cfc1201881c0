/** Sign-in through the provider and linking of an identity: the redirect to the provider, and the callback. */
import type { IncomingHttpHeaders } from "node:http";
import { hash } from "node:crypto";
import type { Audit } from "../../audit/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Cookies } from "../session/cookies.ts";
import type { SessionGuard } from "../session/session-guard.ts";
import type { OpenedSession, Visitor } from "../session/open-session.ts";
import type { Person } from "../people.ts";
import { problem } from "../problems.ts";
import { isExpired, mustChange } from "../session/session.ts";
import { actorOf, enter, recordRefusal, type SignInDeps } from "../password/sign-in.ts";
import {
  findIdentity,
  insertIdentity,
  listIdentities,
  updateLastUsed,
  useLinkPermission,
  markStateUsed,
  type Identity,
} from "../store/identities.ts";
import { selectSession } from "../store/sessions.ts";
import { newChecks, type Claims, type Provider } from "./provider.ts";
import { TRANSACTION_MS, type Transaction, type Transactions } from "./transaction.ts";

export type OidcDeps = Omit<SignInDeps, "attempts" | "devices" | "enqueueHash"> & {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly log: Log;
  readonly sessionGuard: Pick<SessionGuard, "requireSession">;
  readonly provider: Provider;
  readonly transactions: Transactions;
  readonly cookies: Cookies;
  readonly linkByEmail: boolean;
  readonly publicUrl: () => string;
};

export const CALLBACK = "/auth/oidc/callback";

/** The address to send the browser to, and the cookie to set. */
export type ProviderRedirect = { readonly location: string; readonly cookie: string };

/** Starts a sign-in. Rejects if the provider does not answer. */
export async function startSignIn(
  deps: OidcDeps,
  accountId: Uuid,
  { returnTo, linking }: Pick<Transaction, "returnTo" | "linking">,
): Promise<ProviderRedirect> {
  const checks = newChecks();
  const location = await deps.provider.addressOf(checks, `${deps.publicUrl()}${CALLBACK}`);
  const sealed = deps.transactions.seal({ ...checks, accountId, returnTo, linking });
  // Lax: the provider's page redirects here, and the browser has to send the cookie then.
  return {
    location,
    cookie: deps.cookies.write("sign_in", sealed, { seconds: TRANSACTION_MS / 1_000, sameSite: "Lax" }),
  };
}

/** Starts linking an identity with the signed-in person. Throws `login.no_provider_answer`. */
export async function startLink(deps: OidcDeps, headers: IncomingHttpHeaders): Promise<ProviderRedirect> {
  const { accountId, person, session } = await deps.sessionGuard.requireSession(headers);
  const linking = { userId: person.id, sessionId: session.id };
  return startSignIn(deps, accountId, { returnTo: "/login", linking }).catch((error: unknown) => {
    throw problem("login.no_provider_answer", [], { cause: error });
  });
}

/** `failed` has the reason that the page shows. */
export type CallbackResult =
  | { readonly kind: "signed-in"; readonly opened: OpenedSession; readonly returnTo: string }
  | { readonly kind: "linked"; readonly returnTo: string }
  | { readonly kind: "failed"; readonly reason: "refused" | "unlinked" | "taken" };

const failed = (reason: "refused" | "unlinked" | "taken"): CallbackResult => ({ kind: "failed", reason });

/** The request that the provider's redirect makes the browser send. */
export type CallbackRequest = {
  /** The query of the address, with the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly visitor: Visitor;
};

/** An answer of the provider that was checked. */
type Redeemed = { readonly transaction: Transaction; readonly claims: Claims; readonly visitor: Visitor };

export async function handleCallback(
  deps: OidcDeps,
  { query, headers, visitor }: CallbackRequest,
): Promise<CallbackResult> {
  const transaction = deps.transactions.open(deps.cookies.read(headers, "sign_in"));
  if (!transaction) return failed("refused");
  const { accountId, state, until } = transaction;
  if (new URLSearchParams(query).get("state") !== state) return failed("refused");
  // Before anything else, so that a repeated answer is refused.
  if (!(await markStateUsed(deps.db, accountId, { stateHash: hash("sha256", state, "buffer"), until })))
    return failed("refused");
  const claims = await redeem(deps, query, transaction);
  if (!claims) return failed("refused");
  const redeemed = { transaction, claims, visitor };
  return transaction.linking ? link(deps, redeemed) : signIn(deps, redeemed);
}

async function redeem(deps: OidcDeps, query: string, transaction: Transaction): Promise<Claims | undefined> {
  try {
    return await deps.provider.redeem(new URL(`${deps.publicUrl()}${CALLBACK}${query}`), transaction);
  } catch (error) {
    deps.log.warn({ err: error }, "single sign-on was refused");
    return undefined;
  }
}

async function signIn(deps: OidcDeps, { transaction, claims, visitor }: Redeemed): Promise<CallbackResult> {
  const { accountId, returnTo } = transaction;
  const known = await findIdentity(deps.db, accountId, claims);
  const email = known ? undefined : await claims.verifiedEmail().catch(() => undefined);
  return deps.db.transaction(async (tx) => {
    const identity = known ?? (await linkByEmail(tx, deps, { accountId, email, claims, visitor }));
    const person = identity && (await deps.people.lock(tx, accountId, identity.userId));
    // The identity may have been unlinked since it was read.
    const isLinked = person && (await updateLastUsed(tx, { accountId, id: identity.id }, deps.clock.now()));
    const opened = isLinked && (await enter(tx, deps, { accountId, person, method: "OPENID_CONNECT", visitor }));
    if (!opened) {
      const refused = problem("login.unlinked");
      await recordRefusal(tx, deps, { accountId, typed: email ?? "", refused, visitor });
      return failed("unlinked");
    }
    return { kind: "signed-in", opened, returnTo };
  });
}

type UnlinkedUser = {
  readonly accountId: Uuid;
  readonly email: string | undefined;
  readonly claims: Claims;
  readonly visitor: Visitor;
};

/**
 * Links an identity on its first sign-in, if the configuration allows it for all persons, or an administrator for this
 * one. From then on the subject counts and not the address. A person gets at most one identity of an issuer this way.
 */
async function linkByEmail(
  tx: Tx,
  deps: OidcDeps,
  { accountId, email, claims, visitor }: UnlinkedUser,
): Promise<Identity | undefined> {
  const found = email === undefined ? undefined : await deps.people.byEmail(accountId, email);
  const person = found && (await deps.people.lock(tx, accountId, found.id));
  if (!person || person.email !== found.email) return undefined;
  const isAllowed = await useLinkPermission(tx, { accountId, userId: person.id }, deps.clock.now());
  const others = await listIdentities(tx, accountId, person.id);
  const isFirst = deps.linkByEmail && !others.some(({ issuer }) => issuer === claims.issuer);
  return isAllowed || isFirst ? addIdentity(tx, deps, { accountId, person, claims, visitor }) : undefined;
}

/** A person and the identity that the provider has confirmed. */
type IdentityToLink = {
  readonly accountId: Uuid;
  readonly person: Person;
  readonly claims: Claims;
  readonly visitor: Visitor;
};

/** Undefined if the subject is linked already. */
async function addIdentity(
  tx: Tx,
  deps: OidcDeps,
  { accountId, person, claims: { issuer, subject }, visitor }: IdentityToLink,
): Promise<Identity | undefined> {
  const identity = { id: deps.newId(), userId: person.id, issuer, subject, linkedAt: deps.clock.now() };
  if (!(await insertIdentity(tx, accountId, identity))) return undefined;
  await deps.audit.record(tx, actorOf(accountId, person, visitor), {
    operation: "identity.link",
    resourceType: "USER",
    resourceId: toWire(person.id),
    scope: {},
    after: { issuer, subject },
  });
  return { ...identity, lastUsedAt: null };
}

/** The session that started the link has to be valid still. Its cookie is not sent from the provider's page. */
async function link(deps: OidcDeps, { transaction, claims, visitor }: Redeemed): Promise<CallbackResult> {
  const { accountId, linking, returnTo } = transaction;
  return deps.db.transaction(async (tx) => {
    // Locked first: a change of the password, which ends the session, is committed before or after this transaction.
    const person = linking && (await deps.people.lock(tx, accountId, linking.userId));
    const session = linking && (await selectSession(tx, accountId, linking.sessionId));
    if (!session || !person || session.userId !== person.id || isExpired(session, deps.lifetimes, deps.clock.now()))
      return failed("refused");
    // The password may have become a one-time password since.
    if (mustChange(person, session.method)) return failed("refused");
    const known = await findIdentity(tx, accountId, claims);
    const identity = { accountId, person, claims, visitor };
    const isTaken = known ? known.userId !== person.id : !(await addIdentity(tx, deps, identity));
    if (isTaken) {
      await recordTaken(tx, deps, identity);
      return failed("taken");
    }
    return { kind: "linked", returnTo };
  });
}

/** The identity belongs to another person, who should be able to notice: the audit trail records the attempt. */
function recordTaken(
  tx: Tx,
  { audit }: Pick<OidcDeps, "audit">,
  { accountId, person, visitor }: Omit<IdentityToLink, "claims">,
): Promise<void> {
  const { code, status } = problem("login.identity_taken");
  return audit.record(tx, actorOf(accountId, person, visitor), {
    operation: "identity.link",
    resourceType: "USER",
    resourceId: toWire(person.id),
    scope: {},
    refusal: { code, status },
  });
}

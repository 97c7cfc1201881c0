/** Identities of the provider that sign a person in: listed and unlinked by the person, and by administrators. */
import type { IncomingHttpHeaders } from "node:http";
import type { Authorize, PreventEscalationTo } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Actor, RequestFacts } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import type { SessionGuard } from "../session/session-guard.ts";
import type { People, Person } from "../people.ts";
import { problem } from "../problems.ts";
import { actorOf } from "../password/sign-in.ts";
import { allowLink, deleteIdentity, listIdentities, type Identity } from "../store/identities.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly authorize: Authorize;
  readonly preventEscalationToUser: PreventEscalationTo;
  readonly clock: Clock;
  readonly sessionGuard: Pick<SessionGuard, "requireSession">;
  readonly people: Pick<People, "byId">;
};

/** How long a link by e-mail stays allowed after an administrator has allowed it. */
export const ALLOWED_MS = 7 * 24 * 3_600_000;

/** Lists the caller's own identities of the provider. */
export const listOwnIdentities =
  (deps: Deps) =>
  async (headers: IncomingHttpHeaders): Promise<readonly Identity[]> => {
    const { accountId, person } = await deps.sessionGuard.requireSession(headers);
    return listIdentities(deps.db, accountId, person.id);
  };

/** Throws `login.no_identity`, and `login.last_way` if the caller has no other way to sign in. */
export const unlinkOwnIdentity =
  (deps: Deps) =>
  async (headers: IncomingHttpHeaders, id: string, facts: RequestFacts): Promise<void> => {
    const { accountId, person } = await deps.sessionGuard.requireSession(headers);
    const [first, ...others] = await listIdentities(deps.db, accountId, person.id);
    if (person.passwordHash === null && first?.id === fromWire(id) && others.length === 0)
      throw problem("login.last_way");
    await unlink(deps, actorOf(accountId, person, { facts }), { userId: person.id, id });
  };

/** Lists the identities of another user. Throws `login.no_user`. */
export const listUserIdentities =
  (deps: Deps) =>
  async (actor: Actor, userId: string): Promise<readonly Identity[]> => {
    deps.authorize(actor, "core_user_view", { accountId: actor.accountId });
    const person = await findPerson(deps, actor, userId);
    return listIdentities(deps.db, actor.accountId, person.id);
  };

/**
 * Allows one link by a verified e-mail address. Returns until when, in epoch milliseconds. An administrator of users
 * may have set that address, so the user must not hold more than the administrator. Throws `login.no_user`,
 * `access.beyond_own`.
 */
export const allowLinkByEmail =
  (deps: Deps) =>
  async (actor: Actor, userId: string): Promise<{ readonly until: number }> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_manage", { accountId });
    const person = await findPerson(deps, actor, userId);
    const until = deps.clock.now() + ALLOWED_MS;
    await deps.db.transaction(async (tx) => {
      await deps.preventEscalationToUser(tx, actor, person.id);
      await allowLink(tx, { accountId, userId: person.id }, until);
      await deps.audit.record(tx, actor, {
        operation: "identity.allow-link",
        resourceType: "USER",
        resourceId: toWire(person.id),
        scope: {},
        after: { until },
      });
    });
    return { until };
  };

/** Unlinks an identity of another user. Throws `login.no_user`, `login.no_identity`. */
export const unlinkUserIdentity =
  (deps: Deps) =>
  async (actor: Actor, userId: string, id: string): Promise<void> => {
    deps.authorize(actor, "core_user_manage", { accountId: actor.accountId });
    const person = await findPerson(deps, actor, userId);
    await unlink(deps, actor, { userId: person.id, id });
  };

async function findPerson(deps: Deps, actor: Actor, text: string): Promise<Person> {
  const id = fromWire(text);
  const person = id && (await deps.people.byId(actor.accountId, id));
  if (!person) throw problem("login.no_user");
  return person;
}

async function unlink(
  deps: Deps,
  actor: Actor,
  identity: { readonly userId: Uuid; readonly id: string },
): Promise<void> {
  const { userId } = identity;
  const id = fromWire(identity.id);
  const isUnlinked = await deps.db.transaction(async (tx) => {
    const found = id && (await deleteIdentity(tx, { accountId: actor.accountId, userId, id }));
    if (!found) return false;
    await deps.audit.record(tx, actor, {
      operation: "identity.unlink",
      resourceType: "USER",
      resourceId: toWire(userId),
      scope: {},
      before: { issuer: found.issuer, subject: found.subject },
    });
    return true;
  });
  if (!isUnlinked) throw problem("login.no_identity");
}

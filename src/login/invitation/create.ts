import type { Authorize, PreventEscalationTo } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import type { People } from "../people.ts";
import { problem } from "../problems.ts";
import { listIdentities } from "../store/identities.ts";
import { deleteInvitation, saveInvitation } from "../store/invitations.ts";
import { hashOfInvitation, invitationLink, newInvitationToken, type InvitationAuthor } from "./invitation.ts";

/** `link` exists in this answer only: the database has the hash of its token. */
export type NewInvitation = { readonly email: string; readonly link: string; readonly expiresAt: number };

type Deps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly authorize: Authorize;
  readonly preventEscalationToUser: PreventEscalationTo;
  readonly clock: Clock;
  readonly people: Pick<People, "lock">;
  readonly publicUrl: () => string;
};

const DAY_MS = 24 * 3_600_000;

/**
 * Makes the link with which a user chooses a first password. It replaces an earlier one. The user must not be able to
 * sign in yet, and not hold more than the actor, who knows the link. Throws `login.no_user`, `login.own_password`,
 * `login.can_sign_in`, `access.beyond_own`.
 */
export const createInvitation =
  (deps: Deps) =>
  async (actor: Actor, userId: string, { days }: { readonly days: number }): Promise<NewInvitation> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_manage", { accountId });
    const author = authorOf(actor);
    const id = fromWire(userId);
    if (!id || !author) throw problem("login.no_user");
    // An actor's API key must not open a session that outlives the key.
    if (author.id === id) throw problem("login.own_password");
    const token = newInvitationToken();
    return deps.db.transaction(async (tx) => {
      const person = await deps.people.lock(tx, accountId, id);
      if (!person) throw problem("login.no_user");
      await deps.preventEscalationToUser(tx, actor, id);
      const canSignIn = person.passwordHash !== null || (await listIdentities(tx, accountId, id)).length > 0;
      if (canSignIn) throw problem("login.can_sign_in", [person.email]);
      const createdAt = deps.clock.now();
      const expiresAt = createdAt + days * DAY_MS;
      const replaced = await deleteInvitation(tx, { accountId, userId: id });
      await saveInvitation(tx, accountId, {
        ...{ userId: id, secretHash: hashOfInvitation(token), author, createdAt, expiresAt },
      });
      await deps.audit.record(tx, actor, {
        operation: "invitation.create",
        resourceType: "USER",
        resourceId: toWire(id),
        scope: {},
        before: { invitedUntil: replaced?.expiresAt ?? null },
        after: { invitedUntil: expiresAt },
      });
      return { email: person.email, link: invitationLink(deps.publicUrl(), token), expiresAt };
    });
  };

export type CreateInvitation = ReturnType<typeof createInvitation>;

const authorOf = (actor: Actor): InvitationAuthor | undefined =>
  actor.kind === "user" || actor.kind === "service_account" ? { kind: actor.kind, id: actor.id } : undefined;

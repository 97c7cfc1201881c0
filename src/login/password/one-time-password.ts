/**
 * A password that an administrator sets for a person. `sign-in.ts` accepts it as any other, `session-guard.ts` lets its
 * sessions only choose another one, and `change-password.ts` replaces it.
 */
import { randomBytes } from "node:crypto";
import type { Authorize, PreventEscalationTo } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import { actorId, type Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire } from "../../core/ids.ts";
import type { RevalidateActor } from "../../identity/index.ts";
import { hashPassword } from "../../platform/crypto/passwords.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { EnqueueHash } from "./hash-queue.ts";
import type { People } from "../people.ts";
import { problem } from "../problems.ts";
import { identitiesKeptOf } from "./reset-password.ts";
import { listIdentities } from "../store/identities.ts";
import { deleteInvitation } from "../store/invitations.ts";
import { deleteSessionsOf } from "../store/sessions.ts";

/** `oneTimePassword` exists in this answer only: the database has its hash. */
export type OneTimePassword = { readonly email: string; readonly oneTimePassword: string };
type Deps = {
  readonly db: Db;
  readonly audit: Pick<Audit, "record">;
  readonly authorize: Authorize;
  readonly preventEscalationToUser: PreventEscalationTo;
  readonly clock: Clock;
  readonly enqueueHash: EnqueueHash;
  readonly revalidateActor: RevalidateActor;
  readonly people: Pick<People, "byId" | "lock" | "savePassword">;
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

/**
 * Replaces the person's password and ends their sessions. The person must not hold more than the actor, who knows the
 * password then. Throws `login.no_user`, `login.own_password`, `access.beyond_own`.
 */
export const setOneTimePassword =
  (deps: Deps) =>
  async (asking: Actor, text: string): Promise<OneTimePassword> => {
    const { accountId } = asking;
    deps.authorize(asking, "core_user_manage", { accountId });
    const id = fromWire(text);
    const found = id && (await deps.people.byId(accountId, id));
    if (!found) throw problem("login.no_user");
    // An actor's API key must not open a session that outlives the key.
    if (asking.kind === "user" && asking.id === found.id) throw problem("login.own_password");
    const oneTimePassword = randomBytes(15).toString("base64url");
    const signedIn = { kind: "signed-in", id: actorId(asking) ?? accountId } as const;
    const hash = await deps.enqueueHash(signedIn, () => hashPassword(oneTimePassword));
    // Hashing may wait for seconds. The actor may have lost the account, the credential or a role meanwhile.
    const actor = await deps.revalidateActor(asking);
    deps.authorize(actor, "core_user_manage", { accountId });
    return deps.db.transaction(async (tx) => {
      const person = await deps.people.lock(tx, accountId, found.id);
      if (!person) throw problem("login.no_user");
      await deps.preventEscalationToUser(tx, actor, person.id);
      await deps.people.savePassword(tx, accountId, { id: person.id, hash, mustChange: true });
      await deleteInvitation(tx, { accountId, userId: person.id });
      const ended = await deleteSessionsOf(tx, { accountId, userId: person.id });
      const identities = await listIdentities(tx, accountId, person.id);
      await deps.audit.record(tx, actor, {
        operation: "password.set-one-time",
        resourceType: "USER",
        resourceId: toWire(person.id),
        scope: {},
        before: { mustChangePassword: person.mustChangePassword, sessions: ended },
        after: {
          mustChangePassword: true,
          sessions: 0,
          passwordChangedAt: deps.clock.now(),
          ...identitiesKeptOf(identities),
        },
      });
      deps.notifyCredentialsEnded(tx);
      return { email: person.email, oneTimePassword };
    });
  };

export type SetOneTimePassword = ReturnType<typeof setOneTimePassword>;

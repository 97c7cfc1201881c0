import { randomBytes } from "node:crypto";
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { hashPassword } from "../../platform/crypto/passwords.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { People, PersonKey } from "../people.ts";
import { problem } from "../problems.ts";
import { deleteIdentity, disallowLink, listIdentities, type Identity } from "../store/identities.ts";
import { deleteSessionsOf } from "../store/sessions.ts";

/**
 * The new one-time password, which exists in this answer only, the number of ended sessions, and the linked identities:
 * unlinked now, or still able to sign the person in.
 */
export type Reset = {
  readonly email: string;
  readonly password: string;
  readonly ended: number;
  readonly identities: readonly Identity[];
};
type Deps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly audit: Pick<Audit, "record">;
  readonly people: Pick<People, "byEmail" | "first" | "savePassword">;
};

/**
 * Resets a password from the server's shell, without a permission check. Without an address it resets that of the
 * administrator of the first start. `unlink` also removes the person's identities and the permission to link by e-mail.
 * Throws `login.no_person`, `login.no_first_administrator`.
 */
export const resetPassword =
  ({ db, audit, people, clock }: Deps) =>
  async (accountId: Uuid, email: string | undefined, { unlink }: { readonly unlink: boolean }): Promise<Reset> => {
    const person = await (email === undefined ? people.first(accountId) : people.byEmail(accountId, email));
    if (!person && email === undefined) throw problem("login.no_first_administrator");
    if (!person) throw problem("login.no_person", [(email ?? "").slice(0, 254)]);
    const password = randomBytes(15).toString("base64url");
    const hash = await hashPassword(password);
    return db.transaction(async (tx) => {
      await people.savePassword(tx, accountId, { id: person.id, hash, mustChange: true });
      const ended = await deleteSessionsOf(tx, { accountId, userId: person.id });
      const identities = await listIdentities(tx, accountId, person.id);
      if (unlink) await unlinkAll(tx, audit, { accountId, userId: person.id, identities });
      await audit.record(
        tx,
        { kind: "system", accountId },
        {
          operation: "password.reset",
          resourceType: "USER",
          resourceId: toWire(person.id),
          scope: {},
          before: { mustChangePassword: person.mustChangePassword, sessions: ended },
          after: {
            mustChangePassword: true,
            sessions: 0,
            passwordChangedAt: clock.now(),
            ...(unlink ? {} : identitiesKeptOf(identities)),
          },
        },
      );
      return { email: person.email, password, ended, identities };
    });
  };

/** The identities that a new password does not remove, for the audit trail: an attacker may have linked them. */
export const identitiesKeptOf = (identities: readonly Identity[]): { readonly identitiesKept?: readonly string[] } =>
  identities.length === 0 ? {} : { identitiesKept: identities.map(({ issuer, subject }) => `${issuer} ${subject}`) };

async function unlinkAll(
  tx: Tx,
  audit: Pick<Audit, "record">,
  { accountId, userId, identities }: PersonKey & { readonly identities: readonly Identity[] },
): Promise<void> {
  await disallowLink(tx, accountId, userId);
  for (const { id, issuer, subject } of identities) {
    await deleteIdentity(tx, { accountId, userId, id });
    await audit.record(
      tx,
      { kind: "system", accountId },
      {
        operation: "identity.unlink",
        resourceType: "USER",
        resourceId: toWire(userId),
        scope: {},
        before: { issuer, subject },
      },
    );
  }
}

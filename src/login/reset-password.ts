import { randomBytes } from "node:crypto";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { hashPassword } from "../platform/crypto/passwords.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { People } from "./people.ts";
import { problem } from "./problems.ts";
import { deleteIdentity, disallowLink, listIdentities, type Identity } from "./store/identities.ts";
import { deleteSessionsOf } from "./store/sessions.ts";

/**
 * A new one-time password, which exists in the answer alone, how many sessions have ended, and which identities of the
 * provider were linked: unlinked now, or still signing the person in.
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
 * For whoever has the server's machine: nobody is asked for a permission. Without an address it is the administrator of the
 * first start, whatever their address is by now. `unlink` takes away what else signs them in, and what was allowed to.
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
      await people.savePassword(tx, accountId, person.id, { hash, mustChange: true });
      const ended = await deleteSessionsOf(tx, accountId, person.id);
      const identities = await listIdentities(tx, accountId, person.id);
      if (unlink) await unlinkAll(tx, audit, accountId, person.id, identities);
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
            ...(unlink ? {} : keptOf(identities)),
          },
        },
      );
      return { email: person.email, password, ended, identities };
    });
  };

/** What another password does not end, for the trail: a thief may have linked it. */
export const keptOf = (identities: readonly Identity[]): { readonly identitiesKept?: readonly string[] } =>
  identities.length === 0 ? {} : { identitiesKept: identities.map(({ issuer, subject }) => `${issuer} ${subject}`) };

async function unlinkAll(
  tx: Tx,
  audit: Pick<Audit, "record">,
  accountId: Uuid,
  userId: Uuid,
  identities: readonly Identity[],
): Promise<void> {
  await disallowLink(tx, accountId, userId);
  for (const { id, issuer, subject } of identities) {
    await deleteIdentity(tx, accountId, userId, id);
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

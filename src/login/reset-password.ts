import { randomBytes } from "node:crypto";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { hashPassword } from "../platform/crypto/passwords.ts";
import type { Db } from "../platform/db/db.ts";
import type { People } from "./people.ts";
import { problem } from "./problems.ts";
import { deleteSessionsOf } from "./store/sessions.ts";

/** A new one-time password, which exists in the answer alone, and how many sessions have ended. */
export type Reset = { readonly email: string; readonly password: string; readonly ended: number };

/**
 * For whoever has the server's machine: nobody is asked for a permission. Without an address it is the administrator of the
 * first start, whatever their address is by now. Throws `login.no_person`, `login.no_first_administrator`.
 */
export type ResetPassword = (accountId: Uuid, email: string | undefined) => Promise<Reset>;

type Deps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly audit: Pick<Audit, "record">;
  readonly people: Pick<People, "byEmail" | "first" | "savePassword">;
};

export const makeResetPassword =
  ({ db, audit, people, clock }: Deps): ResetPassword =>
  async (accountId, email) => {
    const person = await (email === undefined ? people.first(accountId) : people.byEmail(accountId, email));
    if (!person && email === undefined) throw problem("login.no_first_administrator");
    if (!person) throw problem("login.no_person", [(email ?? "").slice(0, 254)]);
    const password = randomBytes(15).toString("base64url");
    const hash = await hashPassword(password);
    return db.transaction(async (tx) => {
      await people.savePassword(tx, accountId, person.id, { hash, mustChange: true });
      const ended = await deleteSessionsOf(tx, accountId, person.id);
      await audit.record(
        tx,
        { kind: "system", accountId },
        {
          operation: "password.reset",
          resourceType: "USER",
          resourceId: toWire(person.id),
          scope: {},
          before: { mustChangePassword: person.mustChangePassword, sessions: ended },
          after: { mustChangePassword: true, sessions: 0, passwordChangedAt: clock.now() },
        },
      );
      return { email: person.email, password, ended };
    });
  };

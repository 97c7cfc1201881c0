/** Users with a password, and browser sessions created without signing in: a password hash takes long. */
import { createHmac, randomUUIDv7 } from "node:crypto";
import { fromWire, toWire, type Uuid } from "../../src/core/ids.ts";
import { hashPassword } from "../../src/platform/crypto/passwords.ts";
import { hashSecret, newTokenSecret, writeToken } from "../../src/platform/crypto/tokens.ts";
import type { TestPlatform } from "./platform.ts";

export const ADMIN = "admin@railhead.local";
/** The password in the sign-in examples of api/openapi.json. */
export const PASSWORD = "plum-lantern-orbit-42";

export type SessionHeaders = { readonly cookie: string; readonly "x-csrf-token": string };
export type TestSession = { readonly id: string; readonly headers: SessionHeaders };
type Where = Pick<TestPlatform, "accountId"> & {
  readonly db: Pick<TestPlatform["db"], "query">;
  readonly clock: Pick<TestPlatform["clock"], "now">;
};

let hashed: Promise<string> | undefined;

/** Sets the user's password to `PASSWORD`. It is not a one-time password. */
export async function setUserPassword({ db, accountId }: Where, email = ADMIN): Promise<void> {
  hashed ??= hashPassword(PASSWORD);
  await db.query(
    "update users set password_hash = $3, must_change_password = false where account_id = $1 and email = $2",
    [fromWire(accountId), email, await hashed],
  );
}

/** Creates a session of the user as a browser has it. */
export async function createSession({ db, accountId, clock }: Where, email = ADMIN): Promise<TestSession> {
  const session = { accountId: fromWire(accountId) as Uuid, tokenId: randomUUIDv7() as Uuid, secret: newTokenSecret() };
  const now = clock.now();
  await db.query(
    `insert into sessions (account_id, id, user_id, secret_hash, method, remote_address, user_agent, created_at, last_seen_at, expires_at)
     select account_id, $2, id, $3, 'PASSWORD', '192.0.2.1', 'a test', $4::bigint, $4::bigint, $4::bigint + 86400000 from users
      where account_id = $1 and email = $5`,
    [session.accountId, session.tokenId, hashSecret(session.secret), now, email],
  );
  const csrfToken = createHmac("sha256", session.secret).update("railhead anti-forgery token").digest("base64url");
  const headers = { cookie: `railhead_session=${writeToken("ses", session)}`, "x-csrf-token": csrfToken };
  return { id: toWire(session.tokenId), headers };
}

/** Links two identities to the administrator, as the examples of api/openapi.json need them. */
export async function linkIdentities({ db, accountId }: Where): Promise<Readonly<Record<string, string>>> {
  const rows = await db.query<{ id: Uuid; userId: Uuid }>(
    `insert into user_identities (account_id, id, user_id, issuer, subject, linked_at)
     select account_id, gen_random_uuid(), id, 'https://login.example.com', subject, 0
       from users, unnest(array['one', 'two']) as s (subject) where account_id = $1 and email = $2
     returning id, user_id as "userId"`,
    [fromWire(accountId), ADMIN],
  );
  const [one, two] = rows;
  if (!one || !two) return {};
  // Another user, whose password may change and whose sessions may end.
  const other = randomUUIDv7() as Uuid;
  await db.query(
    `insert into users (account_id, id, name, email, password_hash, must_change_password, created_at)
     values ($1, $2, 'Other', 'other@example.com', '', false, 0)`,
    [fromWire(accountId), other],
  );
  return {
    "identity.unlink identityId": toWire(one.id),
    "identity.unlink-own identityId": toWire(two.id),
    "identity.unlink userId": toWire(one.userId),
    "identity.list userId": toWire(one.userId),
    "identity.allow-link userId": toWire(one.userId),
    "password.set-one-time userId": toWire(other),
  };
}

/** Users without a password, and invitations, as the examples of api/openapi.json need them. */
export async function inviteUsers({ db, accountId, clock }: Where): Promise<Readonly<Record<string, string>>> {
  const ids = { create: randomUUIDv7(), revoke: randomUUIDv7(), check: randomUUIDv7(), accept: randomUUIDv7() };
  for (const [verb, id] of Object.entries(ids)) {
    await db.query(
      `insert into users (account_id, id, name, email, password_hash, must_change_password, created_at)
       values ($1, $2, $3, $3 || '@example.com', '', false, 0)`,
      [fromWire(accountId), id, `to-${verb}`],
    );
    if (verb === "create") continue;
    await db.query(
      `insert into invitations (account_id, user_id, secret_hash, created_by, created_by_kind, created_at, expires_at)
       select account_id, $2, $3, id, 'user', $4, $4::bigint + 604800000 from users where account_id = $1 and email = $5`,
      [fromWire(accountId), id, hashSecret(`token-of-an-invitation-to-${verb}`), clock.now(), ADMIN],
    );
  }
  return {
    "invitation.create userId": toWire(ids.create as Uuid),
    "invitation.revoke userId": toWire(ids.revoke as Uuid),
  };
}

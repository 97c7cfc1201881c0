/**
 * The first start creates an account, its administrator and one API key. The plain password and key exist only in
 * memory. `announce` receives them before the commit, so that a crash leaves an empty database and the next start tries
 * again, instead of an account without access.
 */
import { randomBytes } from "node:crypto";
import type { CreateAdministrator } from "../access/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import { hashPassword } from "../platform/crypto/passwords.ts";
import { hashSecret, newTokenSecret, writeToken } from "../platform/crypto/tokens.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { checkedRootKey, keyCheckOf } from "./root-key.ts";
import { findFirstAccount, insertAccount, insertUser, lockFirstStart } from "./store.ts";
import { insertApiKey } from "./store/keys.ts";
import { nameRootKey, type KeyedAccount } from "./store/root-keys.ts";
import { insertToken } from "./store/tokens.ts";

export const ADMIN_NAME = "admin";
export const ADMIN_EMAIL = "admin@railhead.local";

/** A new account and its credentials in plain text. The database has only their hashes. */
export type FirstFacts = {
  readonly accountId: Uuid;
  readonly adminUserId: Uuid;
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly apiKey: string;
};

export type FirstStartDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly keys: KeyRing;
  /** Creates the other rows of a new account in the same transaction. */
  readonly seedAccount: (tx: Tx, accountId: Uuid) => Promise<void>;
  readonly createAdministrator: CreateAdministrator;
  /** Stores or prints the facts; called before the commit. */
  readonly announce: (facts: FirstFacts) => void;
};

/** The account of this database and the id of its root key. */
export type FirstStart = {
  readonly accountId: Uuid;
  readonly rootKeyId: string;
  /** Present only if the account was created now. */
  readonly facts: FirstFacts | undefined;
};

/** Finds or creates the account. Throws `identity.wrong_root_key`. */
export async function firstStart(deps: FirstStartDeps): Promise<FirstStart> {
  const existing = await findFirstAccount(deps.db);
  if (existing) return checked(deps, existing);
  const password = randomBytes(15).toString("base64url");
  const passwordHash = await hashPassword(password);
  return deps.db.transaction(async (tx) => {
    await lockFirstStart(tx);
    const meanwhile = await findFirstAccount(tx);
    if (meanwhile) return checked({ ...deps, db: tx }, meanwhile);
    const facts = await insertFirstAccount(tx, deps, { password, passwordHash });
    deps.announce(facts);
    return { accountId: facts.accountId, rootKeyId: deps.keys.preferred.id, facts };
  });
}

async function checked(
  { db, keys }: { readonly db: Pick<Db, "query">; readonly keys: KeyRing },
  account: KeyedAccount,
): Promise<FirstStart> {
  const rootKeyId = checkedRootKey(keys, account);
  if (account.rootKeyId === "") await nameRootKey(db, rootKeyId);
  return { accountId: account.id, rootKeyId, facts: undefined };
}

async function insertFirstAccount(
  tx: Tx,
  deps: FirstStartDeps,
  { password, passwordHash }: { readonly password: string; readonly passwordHash: string },
): Promise<FirstFacts> {
  const at = deps.clock.now();
  const [accountId, adminUserId] = [deps.newId(), deps.newId()];
  await insertAccount(tx, {
    id: accountId,
    name: "Railhead",
    rootKeyId: deps.keys.preferred.id,
    keyCheck: keyCheckOf(deps.keys, accountId, deps.keys.preferred.id),
    at,
  });
  await insertUser(tx, {
    accountId,
    id: adminUserId,
    name: ADMIN_NAME,
    email: ADMIN_EMAIL,
    passwordHash,
    at,
  });
  const apiKey = await createFirstToken(tx, deps, { accountId, userId: adminUserId });
  await deps.createAdministrator(tx, accountId, adminUserId);
  await deps.seedAccount(tx, accountId);
  return {
    accountId,
    adminUserId,
    adminEmail: ADMIN_EMAIL,
    adminPassword: password,
    apiKey,
  };
}

/**
 * Creates an API key with one token without an end, so that the installation can be used at once. Returns the token's
 * text.
 */
async function createFirstToken(
  tx: Tx,
  deps: FirstStartDeps,
  { accountId, userId }: { readonly accountId: Uuid; readonly userId: Uuid },
): Promise<string> {
  const at = deps.clock.now();
  const [apiKeyId, tokenId, secret] = [deps.newId(), deps.newId(), newTokenSecret()];
  const named = { identifier: "first_start", name: "first start", description: "", tags: {} };
  const times = { createdAt: at, updatedAt: at };
  const key = { ...named, ...times, id: apiKeyId, defaultTimeToExpireToken: null };
  await insertApiKey(tx, accountId, { parent: { type: "USER", id: userId }, key });
  const period = { validFrom: at, validTo: null, scheduledEnd: null };
  const token = { ...named, ...times, ...period, id: tokenId, familyId: tokenId, replacedBy: null };
  await insertToken(tx, { ...token, accountId, apiKeyId, secretHash: hashSecret(secret) });
  return writeToken("pat", { accountId, tokenId, secret });
}

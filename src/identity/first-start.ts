/**
 * The first start makes an account, its administrator and one API key. The
 * plain password and key exist only in the answer: `announce` gets them before
 * the commit, so that a crash in between leaves an empty database, and the next
 * start begins again, instead of an account that nobody can enter.
 */
import { randomBytes } from "node:crypto";
import type { MakeAdministrator } from "../access/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Sealer } from "../platform/crypto/seal.ts";
import { hashPassword } from "../platform/crypto/passwords.ts";
import { hashSecret, newTokenSecret, writeToken } from "../platform/crypto/tokens.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { findFirstAccount, insertAccount, insertToken, insertUser, lockFirstStart } from "./store.ts";

export const ADMIN_NAME = "admin";
export const ADMIN_EMAIL = "admin@railhead.local";
const KEY_CHECK = "this is the root key of this database";

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
  readonly sealer: Sealer;
  /** Makes what else an account begins with, in the same transaction. */
  readonly furnish: (tx: Tx, accountId: Uuid) => Promise<void>;
  readonly makeAdministrator: MakeAdministrator;
  /** Keeps the facts; called before the commit. */
  readonly announce: (facts: FirstFacts) => void;
};

/** Answers the account, and the facts when it was made just now. Throws `identity.wrong_root_key`. */
export async function firstStart(deps: FirstStartDeps): Promise<{ accountId: Uuid; facts: FirstFacts | undefined }> {
  const existing = await findFirstAccount(deps.db);
  if (existing) return { accountId: checked(deps.sealer, existing), facts: undefined };
  const password = randomBytes(15).toString("base64url");
  const passwordHash = await hashPassword(password);
  return deps.db.transaction(async (tx) => {
    await lockFirstStart(tx);
    const meanwhile = await findFirstAccount(tx);
    if (meanwhile) return { accountId: checked(deps.sealer, meanwhile), facts: undefined };
    const facts = await makeAccount(tx, deps, password, passwordHash);
    deps.announce(facts);
    return { accountId: facts.accountId, facts };
  });
}

function checked(sealer: Sealer, account: { id: Uuid; keyCheck: Buffer }): Uuid {
  try {
    if (sealer.open(account.keyCheck, `account:${account.id}`) === KEY_CHECK) return account.id;
  } catch {
    // Falls through: a key that does not open it is the wrong key.
  }
  throw problem("identity.wrong_root_key");
}

async function makeAccount(tx: Tx, deps: FirstStartDeps, password: string, passwordHash: string): Promise<FirstFacts> {
  const at = deps.clock.now();
  const [accountId, adminUserId, tokenId] = [deps.newId(), deps.newId(), deps.newId()];
  const secret = newTokenSecret();
  await insertAccount(tx, {
    id: accountId,
    name: "Railhead",
    keyCheck: deps.sealer.seal(KEY_CHECK, `account:${accountId}`),
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
  await insertToken(tx, {
    accountId,
    id: tokenId,
    userId: adminUserId,
    name: "first start",
    secretHash: hashSecret(secret),
    expiresAt: null,
    at,
  });
  await deps.makeAdministrator(tx, accountId, adminUserId);
  await deps.furnish(tx, accountId);
  return {
    accountId,
    adminUserId,
    adminEmail: ADMIN_EMAIL,
    adminPassword: password,
    apiKey: writeToken("pat", { accountId, tokenId, secret }),
  };
}

/**
 * The local delegate's name and token. A name belongs to one data directory, so that several servers on one database
 * can each have a local delegate. Each start creates a new token text, so that none has to be stored.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../core/clock.ts";
import { fromWire, toWire, type NewId, type Uuid } from "../../core/ids.ts";
import { hashSecret, newTokenSecret, writeToken } from "../../platform/crypto/tokens.ts";
import type { Db } from "../../platform/db/db.ts";
import { claimDelegateToken, renewDelegateToken } from "../store/delegates.ts";

type Deps = { readonly db: Db; readonly clock: Clock; readonly newId: NewId };

/** The token of this data directory; its name is also the delegate's name. */
export type LocalClaim = { readonly name: string; readonly tokenId: Uuid };

export type LocalClaimFile = {
  readonly read: () => LocalClaim | undefined;
  /** Called before the commit: a claim that cannot be saved is not made. */
  readonly save: (claim: LocalClaim) => void;
};

export type LocalPass = { readonly name: string; readonly token: string };

const FIRST_NAME = "local";
/** The chance that a name is taken is one in sixteen million. */
const ATTEMPTS = 5;

/**
 * Creates a token text for the next connection and invalidates earlier ones; undefined when an operator has revoked
 * the token.
 */
export async function renewLocalPass(
  deps: Deps,
  accountId: Uuid,
  file: LocalClaimFile,
): Promise<LocalPass | undefined> {
  const secret = newTokenSecret();
  const secretHash = hashSecret(secret);
  const saved = file.read();
  const known = saved && (await renewDelegateToken(deps.db, { accountId, tokenId: saved.tokenId }, secretHash));
  if (known?.revoked) return undefined;
  const claim = known
    ? saved
    : await createClaim(deps, { accountId, secretHash, formerClaim: saved, saveClaim: file.save });
  return { name: claim.name, token: writeToken("dlg", { accountId, tokenId: claim.tokenId, secret }) };
}

type NewClaim = {
  readonly accountId: Uuid;
  readonly secretHash: Buffer;
  /** A claim whose token was deleted or belongs to another database; its name is tried first. */
  readonly formerClaim: LocalClaim | undefined;
  readonly saveClaim: LocalClaimFile["save"];
};

async function createClaim({ db, clock, newId }: Deps, wanted: NewClaim): Promise<LocalClaim> {
  const { accountId, secretHash, formerClaim, saveClaim } = wanted;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const tokenId = newId();
    // The end of a time-ordered id is random.
    const name = attempt === 0 ? (formerClaim?.name ?? FIRST_NAME) : `${FIRST_NAME}-${tokenId.slice(-6)}`;
    const claim = { name, tokenId };
    const token = { accountId, id: tokenId, name, secretHash, createdBy: null, at: clock.now() };
    const isCreated = await db.transaction(async (tx) => {
      const isFree = await claimDelegateToken(tx, token, formerClaim?.tokenId);
      if (isFree) saveClaim(claim);
      return isFree;
    });
    if (isCreated) return claim;
  }
  throw new Error("no name for the local delegate is free");
}

/** `<data dir>/local-delegate.json`, mode 0600. */
export function localClaimFile(dataDir: string): LocalClaimFile {
  const path = join(dataDir, "local-delegate.json");
  return {
    read: () => {
      const text = readIfThere(path);
      if (text === undefined) return undefined;
      const claim = claimOf(text);
      if (!claim) throw new Error(`${path} is damaged; delete it, and the local delegate gets a new name`);
      return claim;
    },
    save: ({ name, tokenId }) => {
      writeFileSync(`${path}.new`, `${JSON.stringify({ name, tokenId: toWire(tokenId) })}\n`, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
  };
}

const claimText = z.strictObject({ name: z.string(), tokenId: z.string() });

function claimOf(text: string): LocalClaim | undefined {
  try {
    const { name, tokenId } = claimText.parse(JSON.parse(text));
    const id = fromWire(tokenId);
    return id && { name, tokenId: id };
  } catch {
    return undefined;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

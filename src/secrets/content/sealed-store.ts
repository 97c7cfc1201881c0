/** Secrets as something that is sealed: wrapped under another root key, and opened to see that it can be. */
import type { Uuid } from "../../core/ids.ts";
import type { SealedStore, Swept } from "../../platform/crypto/sealed-store.ts";
import type { Db } from "../../platform/db/db.ts";
import { forget } from "../../platform/forget.ts";
import type { HoldRootKey } from "../../identity/index.ts";
import type { PlatformWrapper } from "../managers/kinds/platform.ts";
import type { WrappedKey } from "../managers/kinds/kind.ts";
import { Problem } from "../../core/problem.ts";
import { UnknownRootKey } from "../../platform/crypto/seal.ts";
import { identityOf } from "./vault.ts";
import { readContent, type ReadDeps } from "./read.ts";
import {
  listContents,
  listEmptySecrets,
  countUnderOtherKeys,
  listUnderOtherKeys,
  saveWrappedKeys,
  type NamedContent,
  type Rewrapped,
} from "../store/rotation.ts";

export type SealedStoreDeps = ReadDeps & {
  readonly db: Db;
  readonly wrapper: Pick<PlatformWrapper, "rewrap">;
  readonly holdRootKey: HoldRootKey;
};

const BATCH = 200;
/** Each opens a whole content, so that a batch takes as long as a few large files. */
const VERIFIED_AT_ONCE = 4;

export const createSealedSecrets = (deps: SealedStoreDeps): SealedStore => ({
  what: "secrets",
  underOthers: countUnderOtherKeys,
  async *reseal(accountId, keyId) {
    const next = (after: Uuid | null) => listUnderOtherKeys(deps.db, accountId, keyId, after, BATCH);
    for await (const batch of batches(next)) yield await rewrapBatch(deps, accountId, keyId, batch);
  },
  async *verify(accountId) {
    const empty = await listEmptySecrets(deps.db, accountId, BATCH);
    if (empty.length > 0) yield { done: 0, failed: empty.map(({ name }) => name) };
    const next = (after: Uuid | null) => listContents(deps.db, accountId, null, after, VERIFIED_AT_ONCE);
    for await (const batch of batches(next)) yield await verifyBatch(deps, accountId, batch);
  },
});

async function rewrapBatch(
  deps: SealedStoreDeps,
  accountId: Uuid,
  keyId: string,
  batch: readonly NamedContent[],
): Promise<Swept> {
  const done: Rewrapped[] = [];
  const failed: string[] = [];
  for (const content of batch) {
    try {
      done.push({ id: content.id, was: content.keyId, now: await rewrapped(deps.wrapper, accountId, content, keyId) });
    } catch {
      failed.push(content.name);
    }
  }
  const saved = await deps.db.transaction(async (tx) => {
    if ((await deps.holdRootKey(tx, accountId)) !== keyId)
      throw new Error("another rotation has changed the root key of the account meanwhile; start again");
    return saveWrappedKeys(tx, accountId, done);
  });
  return { done: saved, failed };
}

function rewrapped(
  { rewrap }: SealedStoreDeps["wrapper"],
  accountId: Uuid,
  { id, secretId, managerId, keyId: was, wrappedKey }: NamedContent,
  keyId: string,
): Promise<WrappedKey> {
  return rewrap(
    { accountId, managerId },
    { keyId: was, wrapped: wrappedKey },
    identityOf(accountId, secretId, id),
    keyId,
  );
}

async function verifyBatch(deps: SealedStoreDeps, accountId: Uuid, batch: readonly NamedContent[]): Promise<Swept> {
  const found = await Promise.all(batch.map((content) => opens(deps, accountId, content)));
  const failed = batch.filter((_, nth) => found[nth] === false).map(({ name }) => name);
  const lacking = found.flatMap((one) => (typeof one === "object" ? [one.lacks] : []));
  return { done: batch.length - failed.length - lacking.length, failed, lacking };
}

/** Whether it opens; or the id of the root key that it lacks. */
async function opens(
  deps: SealedStoreDeps,
  accountId: Uuid,
  content: NamedContent,
): Promise<boolean | { readonly lacks: string }> {
  try {
    let size = 0;
    for await (const piece of readContent(deps, accountId, content.name, content)) {
      size += piece.length;
      forget(piece);
    }
    return size === content.size;
  } catch (error) {
    const known = ["secret.replaced", "secret.unreadable", "secret.manager_failed"];
    if (!(error instanceof Problem) || !known.includes(error.code)) throw error;
    if (error.cause instanceof UnknownRootKey) return { lacks: error.cause.keyId };
    // What was replaced or deleted meanwhile is somebody's doing, and no fault.
    return error.code === "secret.replaced";
  }
}

/** Batches in the order of ids, each after the last one's last row: what fails is not met again. */
export async function* batches<Row extends { readonly id: Uuid }>(
  next: (after: Uuid | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let after: Uuid | null = null;
  for (;;) {
    const rows: readonly Row[] = await next(after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}

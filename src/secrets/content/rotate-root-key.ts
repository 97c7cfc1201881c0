/**
 * The second step of a rotation of the root key, after identity/change-root-key.ts: wraps the data keys of all secrets under the new root key, and verifies that every content
 * opens (the `SealedStore` of secrets).
 */
import type { Uuid } from "../../core/ids.ts";
import type { SealedStore, BatchResult } from "../../platform/crypto/sealed-store.ts";
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
/** Contents verified at once. Each is opened as a whole, so a batch may consist of large files. */
const VERIFY_BATCH = 4;

export const createSealedSecrets = (deps: SealedStoreDeps): SealedStore => ({
  what: "secrets",
  countUnderOtherKeys,
  async *reseal(accountId, keyId) {
    const next = (after: Uuid | null) => listUnderOtherKeys(deps.db, accountId, { keyId, after, limit: BATCH });
    for await (const batch of batches(next)) yield await rewrapBatch(deps, accountId, { keyId, batch });
  },
  async *verify(accountId) {
    const empty = await listEmptySecrets(deps.db, accountId, BATCH);
    if (empty.length > 0) yield { done: 0, failed: empty.map(({ name }) => name) };
    const next = (after: Uuid | null) =>
      listContents(deps.db, accountId, { rotationId: null, after, limit: VERIFY_BATCH });
    for await (const batch of batches(next)) yield await verifyBatch(deps, accountId, batch);
  },
});

async function rewrapBatch(
  deps: SealedStoreDeps,
  accountId: Uuid,
  { keyId, batch }: { readonly keyId: string; readonly batch: readonly NamedContent[] },
): Promise<BatchResult> {
  const done: Rewrapped[] = [];
  const failed: string[] = [];
  for (const content of batch) {
    try {
      const wrapped = await rewrapKey(deps.wrapper, accountId, { content, keyId });
      done.push({ id: content.id, oldKeyId: content.keyId, wrapped });
    } catch {
      failed.push(content.name);
    }
  }
  const saved = await deps.db.transaction(async (tx) => {
    if ((await deps.holdRootKey(tx, accountId)) !== keyId)
      throw new Error("Another rotation changed the root key of the account meanwhile. Start the rotation again.");
    return saveWrappedKeys(tx, accountId, done);
  });
  return { done: saved, failed };
}

function rewrapKey(
  { rewrap }: SealedStoreDeps["wrapper"],
  accountId: Uuid,
  { content, keyId }: { readonly content: NamedContent; readonly keyId: string },
): Promise<WrappedKey> {
  const key = { keyId: content.keyId, wrapped: content.wrappedKey };
  const identity = identityOf(accountId, content.secretId, content.id);
  return rewrap({ accountId, managerId: content.managerId }, { key, identity, keyId });
}

async function verifyBatch(
  deps: SealedStoreDeps,
  accountId: Uuid,
  batch: readonly NamedContent[],
): Promise<BatchResult> {
  const found = await Promise.all(batch.map((content) => verifyContent(deps, accountId, content)));
  const failed = batch.filter((_, nth) => found[nth] === false).map(({ name }) => name);
  const missingKeyIds = found.flatMap((one) => (typeof one === "object" ? [one.missingKeyId] : []));
  return { done: batch.length - failed.length - missingKeyIds.length, failed, missingKeyIds };
}

/** Returns whether the content opens, or the id of the root key that the server lacks. */
async function verifyContent(
  deps: SealedStoreDeps,
  accountId: Uuid,
  content: NamedContent,
): Promise<boolean | { readonly missingKeyId: string }> {
  try {
    let size = 0;
    for await (const piece of readContent(deps, accountId, { name: content.name, content })) {
      size += piece.length;
      forget(piece);
    }
    return size === content.size;
  } catch (error) {
    const known = ["secret.replaced", "secret.unreadable", "secret.manager_failed"];
    if (!(error instanceof Problem) || !known.includes(error.code)) throw error;
    if (error.cause instanceof UnknownRootKey) return { missingKeyId: error.cause.keyId };
    // A secret that a user replaced or deleted meanwhile is not a failure.
    return error.code === "secret.replaced";
  }
}

/** Yields batches ordered by id. Each starts after the last row of the previous one, so a failing row occurs once. */
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

/** Seals all contents with new data keys, so that a leaked data key opens nothing any more. */
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { BatchResult } from "../../platform/crypto/sealed-store.ts";
import type { Db } from "../../platform/db/db.ts";
import { forget } from "../../platform/forget.ts";
import { Problem } from "../../core/problem.ts";
import { readContent, type ReadDeps } from "./read.ts";
import { batches } from "./rotate-root-key.ts";
import { insertContent } from "../store/contents.ts";
import {
  finishRotation,
  listContents,
  deleteContentById,
  startOrResumeRotation,
  type NamedContent,
} from "../store/rotation.ts";
import { retryOnKeyReplacement } from "./vault.ts";

export type RotateDeps = ReadDeps & {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
};

/** Contents in memory at once. */
const BATCH = 4;

/**
 * Seals every content again, one transaction each, and yields the counts of each batch. Continues an interrupted
 * rotation: the contents that it has sealed are marked. A secret created meanwhile may get a second data key.
 */
export const rotateDataKeys = (deps: RotateDeps) =>
  async function* rotate(accountId: Uuid): AsyncGenerator<BatchResult> {
    const rotation = await startOrResumeRotation(deps.db, accountId, { id: deps.newId(), at: deps.clock.now() });
    const next = (after: Uuid | null) =>
      listContents(deps.db, accountId, { rotationId: rotation.id, after, limit: BATCH });
    let total = 0;
    for await (const batch of batches(next)) {
      const swept = await sealBatch(deps, { accountId, id: rotation.id }, batch);
      total += swept.done;
      yield swept;
    }
    await deps.db.transaction(async (tx) => {
      if (!(await finishRotation(tx, accountId, { id: rotation.id, at: deps.clock.now() }))) return;
      await deps.audit.record(
        tx,
        { kind: "system", accountId },
        {
          operation: "account.rotate-data-keys",
          resourceType: "ACCOUNT",
          resourceId: toWire(accountId),
          scope: {},
          after: { rotation: toWire(rotation.id), sealedByThisRun: total },
        },
      );
    });
  };

type Rotation = { readonly accountId: Uuid; readonly id: Uuid };

async function sealBatch(deps: RotateDeps, rotation: Rotation, batch: readonly NamedContent[]): Promise<BatchResult> {
  const outcomes = await Promise.all(batch.map((content) => resealContent(deps, rotation, content)));
  return {
    done: outcomes.filter((outcome) => outcome === "sealed").length,
    failed: batch.filter((_, nth) => outcomes[nth] === "failed").map(({ name }) => name),
  };
}

/** `replaced`: the content was replaced or deleted meanwhile, and its data key with it. */
async function resealContent(
  deps: RotateDeps,
  { accountId, id: rotationId }: Rotation,
  content: NamedContent,
): Promise<"sealed" | "replaced" | "failed"> {
  const { secretId, managerId, kind, spec, originId, size } = content;
  let pages: Buffer[];
  try {
    pages = await Array.fromAsync(readContent(deps, accountId, { name: content.name, content }));
  } catch (error) {
    if (error instanceof Problem && error.code === "secret.replaced") return "replaced";
    if (error instanceof Problem && ["secret.unreadable", "secret.manager_failed"].includes(error.code))
      return "failed";
    throw error;
  }
  const toSeal = { accountId, id: secretId, manager: { id: managerId, kind, spec } };
  const sealing = retryOnKeyReplacement(async () => {
    const sealed = await deps.vault.seal(toSeal, { size, pages });
    return deps.db.transaction(async (tx) => {
      if (!(await deleteContentById(tx, accountId, content.id))) return "replaced";
      await deps.vault.lockKey(tx, accountId, sealed);
      await insertContent(tx, accountId, { content: sealed, at: deps.clock.now(), resealed: { originId, rotationId } });
      return "sealed";
    });
  });
  return sealing.finally(() => {
    for (const page of pages) forget(page);
  });
}

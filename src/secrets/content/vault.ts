/** Seals contents for the database and opens them. Each content has a data key of its own (docs/decisions/0009). */
import type { NewId, Uuid } from "../../core/ids.ts";
import { chunkCount, newDataKey, openChunk, sealChunks, type Content } from "../../platform/crypto/chunks.ts";
import type { Tx } from "../../platform/db/db.ts";
import { UnknownRootKey } from "../../platform/crypto/seal.ts";
import { problem } from "../problems.ts";
import type { SecretManager } from "../managers/manager.ts";
import type { Wrappers } from "../managers/kinds/kinds.ts";
import { ManagerFailed } from "../managers/kinds/kind.ts";

export type StoredContent = {
  readonly id: Uuid;
  readonly secretId: Uuid;
  readonly managerId: Uuid;
  /** The kind of its manager. */
  readonly kind: SecretManager["kind"];
  readonly spec: unknown;
  readonly keyId: string;
  readonly wrappedKey: Buffer;
  /** Bytes of the plain content. */
  readonly size: number;
};

export type SealedContent = StoredContent & {
  /** Seals the chunks as they are read. Callable once: the data key is erased after the last chunk. */
  readonly chunks: () => Generator<Buffer>;
};

/** The manager's key was replaced after the content was sealed. Nothing is stored; the content is sealed again. */
export class KeyReplaced extends Error {}

export type Vault = {
  /** Wraps a new data key for the content. Called outside of transactions, because a manager may call a program. */
  readonly seal: (secret: SecretRef, content: Content) => Promise<SealedContent>;
  /** Locks the manager's key in the transaction that stores the content. Throws KeyReplaced. */
  readonly lockKey: (tx: Tx, accountId: Uuid, sealed: SealedContent) => Promise<void>;
  /**
   * Yields the bytes of a content in chunks, beginning with the chunk `from`; `chunk` reads a sealed chunk. The first
   * chunk is empty and follows the opening of the data key. Throws if a sealed byte or its identity was changed.
   */
  readonly open: (accountId: Uuid, stored: StoredContent, chunk: ReadChunk, from?: number) => AsyncGenerator<Buffer>;
};

type SecretRef = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly name?: string;
  readonly manager: Pick<SecretManager, "id" | "kind" | "spec">;
};
type ReadChunk = (nth: number) => Promise<Buffer>;

/**
 * The additional authenticated data of a content. Its id is never used again, so it identifies one version of the
 * secret.
 */
export const identityOf = (accountId: Uuid, secretId: Uuid, contentId: Uuid): string =>
  `secret:${accountId}:${secretId}:${contentId}`;

export function createVault(deps: { newId: NewId; wrappers: Wrappers }): Vault {
  return {
    async seal({ accountId, id: secretId, name, manager }, content) {
      const id = deps.newId();
      const identity = identityOf(accountId, secretId, id);
      const dataKey = newDataKey();
      const ref = { accountId, managerId: manager.id, spec: manager.spec };
      const { keyId, wrapped: wrappedKey } = await deps.wrappers[manager.kind]
        .wrap(ref, dataKey, identity)
        .catch((error: unknown) => {
          throw managerProblem(error, name ?? secretId);
        });
      const chunks = function* (): Generator<Buffer> {
        try {
          yield* sealChunks(dataKey, identity, content);
        } finally {
          dataKey.fill(0);
        }
      };
      const { id: managerId, kind, spec } = manager;
      return { id, secretId, managerId, kind, spec, keyId, wrappedKey, size: content.size, chunks };
    },
    async lockKey(tx, accountId, { kind, managerId, keyId }) {
      const isCurrent = await deps.wrappers[kind].lockKey?.(tx, { accountId }, keyId);
      if (isCurrent === false)
        throw new KeyReplaced(`the key ${keyId} of the secret manager ${managerId} was replaced`);
    },
    async *open(accountId, stored, chunk, from = 0) {
      const identity = identityOf(accountId, stored.secretId, stored.id);
      const ref = { accountId, managerId: stored.managerId, spec: stored.spec };
      const wrapped = { keyId: stored.keyId, wrapped: stored.wrappedKey };
      const dataKey = await deps.wrappers[stored.kind].unwrap(ref, wrapped, identity);
      try {
        yield Buffer.alloc(0);
        const count = chunkCount(stored.size);
        for (let nth = from; nth < count; nth += 1)
          yield openChunk(dataKey, { identity, nth, count }, await chunk(nth));
      } finally {
        dataKey.fill(0);
      }
    },
  };
}

/** Maps a failure of a manager to a problem for the caller. The original error is its cause, for the log. */
export function managerProblem(error: unknown, secret: string): unknown {
  if (error instanceof UnknownRootKey)
    return problem("secret.no_root_key", [secret, error.keyId], { cause: error, retryAfter: 5 });
  if (error instanceof ManagerFailed)
    return problem("secret.manager_failed", [secret], { cause: error, retryAfter: 5 });
  return error;
}

/** A key is replaced about once a year, so the second attempt normally succeeds. */
const ATTEMPTS = 3;

/** Seals and stores a content. Starts again if the manager's key was replaced in between. */
export async function retryOnKeyReplacement<T>(sealAndStore: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sealAndStore();
    } catch (error) {
      if (!(error instanceof KeyReplaced) || attempt === ATTEMPTS) throw error;
    }
  }
}

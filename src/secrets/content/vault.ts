/** Contents on their way into the database and out of it: each under a data key of its own (docs/decisions/0009). */
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
  /** Of its manager. */
  readonly kind: SecretManager["kind"];
  readonly spec: unknown;
  readonly keyId: string;
  readonly wrappedKey: Buffer;
  /** Bytes of the plain content. */
  readonly size: number;
};

export type SealedContent = StoredContent & {
  /** The sealed pieces, made as they are taken; once only, for the data key is forgotten with the last one. */
  readonly chunks: () => Generator<Buffer>;
};

/** The manager wraps with another key by now: nothing is stored, and sealing is to be done again. */
export class KeyReplaced extends Error {}

export type Vault = {
  /** Wraps a new data key for the content. Before the transaction: a manager may be another program. */
  readonly seal: (secret: SecretRef, content: Content) => Promise<SealedContent>;
  /** Called in the transaction, before the content is stored. Throws KeyReplaced. */
  readonly lockKey: (tx: Tx, accountId: Uuid, sealed: SealedContent) => Promise<void>;
  /**
   * The bytes of a content, piece by piece, as `chunk` finds them, from the piece `from` on. Before them comes one empty
   * piece, once the manager has opened the data key. Throws when anything has been changed.
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

/** A content has an id that is never used again: it is the version of the secret that everything is bound to. */
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
      const held = await deps.wrappers[kind].lockKey?.(tx, { accountId }, keyId);
      if (held === false) throw new KeyReplaced(`the key ${keyId} of the secret manager ${managerId} was replaced`);
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

/** What a manager could not do, in words for the caller; its own words are for the log. */
export function managerProblem(error: unknown, secret: string): unknown {
  if (error instanceof UnknownRootKey)
    return problem("secret.no_root_key", [secret, error.keyId], { cause: error, retryAfter: 5 });
  if (error instanceof ManagerFailed)
    return problem("secret.manager_failed", [secret], { cause: error, retryAfter: 5 });
  return error;
}

/** A key that was replaced since is replaced about once a year: the second try finds the new one. */
const ATTEMPTS = 3;

/** Seals and stores, again from the start when the manager's key was replaced in between. */
export async function retryOnKeyReplacement<T>(sealAndStore: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sealAndStore();
    } catch (error) {
      if (!(error instanceof KeyReplaced) || attempt === ATTEMPTS) throw error;
    }
  }
}

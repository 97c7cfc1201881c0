import type { z } from "zod";
import type { Uuid } from "../../../core/ids.ts";
import type { HoldRootKey, RootKeyOf } from "../../../identity/index.ts";
import type { KeyRing } from "../../../platform/crypto/key-ring.ts";
import type { Db, Tx } from "../../../platform/db/db.ts";

/** A data key as it is stored. `keyId` identifies the manager's key that opens it. */
export type WrappedKey = { readonly keyId: string; readonly wrapped: Buffer };

/** Identifies a manager and carries the spec that its kind needs. */
export type ManagerRef = { readonly accountId: Uuid; readonly managerId: Uuid; readonly spec: unknown };

/**
 * Wraps data keys with keys that never leave the manager. `identity` names the record; a wrapped key opens only under
 * the same identity. It may call a program, so it is never called in a transaction.
 */
export type KeyWrapper = {
  /** Throws ManagerFailed if the manager is unreachable, and `secret.manager_busy`. */
  readonly wrap: (manager: ManagerRef, dataKey: Buffer, identity: string) => Promise<WrappedKey>;
  /**
   * Rejects if manager, key, identity or a byte differs. Throws ManagerFailed if the manager is unreachable, and
   * `secret.manager_busy`.
   */
  readonly unwrap: (manager: ManagerRef, key: WrappedKey, identity: string) => Promise<Buffer>;
  /**
   * Locks the key in the transaction that stores a wrapped key. Returns false if the manager now wraps with another
   * key; the caller then seals again. Undefined for kinds whose keys stay valid.
   */
  readonly lockKey?: (tx: Tx, manager: Pick<ManagerRef, "accountId">, keyId: string) => Promise<boolean>;
};

/** The manager cannot wrap or unwrap. `message` is for the log only, because it may quote output of a program. */
export class ManagerFailed extends Error {}

/** Dependencies of all kinds. */
export type KindDeps = {
  readonly db: Pick<Db, "query">;
  readonly keys: KeyRing;
  readonly rootKeyOf: RootKeyOf;
  readonly holdRootKey: HoldRootKey;
  /** Programs that the operator allows managers to call, by name (RAILHEAD_SECRET_COMMANDS). */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  /** `Clock.elapsed`, in milliseconds; limits how long a call waits for its turn. */
  readonly elapsed: () => number;
};

/** A kind of secret manager: one file in this folder, and in kinds.ts its import, its entry in `KINDS` and its wrapper. */
export type ManagerKind<Spec = unknown> = {
  /** The name in requests and answers. */
  readonly type: string;
  readonly spec: z.ZodType<Spec>;
  readonly wrapper: (deps: KindDeps) => KeyWrapper;
};

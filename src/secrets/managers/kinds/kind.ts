import type { z } from "zod";
import type { Uuid } from "../../../core/ids.ts";
import type { HoldRootKey, RootKeyOf } from "../../../identity/index.ts";
import type { KeyRing } from "../../../platform/crypto/key-ring.ts";
import type { Db, Tx } from "../../../platform/db/db.ts";

/** A data key as it is stored: `keyId` says which of its manager's keys opens it. */
export type WrappedKey = { readonly keyId: string; readonly wrapped: Buffer };

/** Which manager of which account, and what its kind has to know of it. */
export type ManagerRef = { readonly accountId: Uuid; readonly managerId: Uuid; readonly spec: unknown };

/**
 * Wraps data keys with keys that never leave the manager. `identity` names the record; a wrapped key opens under the
 * same one only. May ask another program, so never call it in a transaction.
 */
export type KeyWrapper = {
  /** Throws ManagerFailed when the manager is out of reach, and `secret.manager_busy`. */
  readonly wrap: (manager: ManagerRef, dataKey: Buffer, identity: string) => Promise<WrappedKey>;
  /** Rejects when manager, key, identity or a byte is another one; with ManagerFailed when the manager is out of reach, or `secret.manager_busy`. */
  readonly unwrap: (manager: ManagerRef, key: WrappedKey, identity: string) => Promise<Buffer>;
  /**
   * Asked in the transaction that stores what `wrap` gave: false when the manager wraps with another key by now, so that
   * it has to be done again. Without it, every key of the manager stays good.
   */
  readonly lockKey?: (tx: Tx, manager: Pick<ManagerRef, "accountId">, keyId: string) => Promise<boolean>;
};

/** The manager cannot do its work just now, or not any more. `message` is for the log: what it quotes may be anything. */
export class ManagerFailed extends Error {}

/** What the server gives to kinds. */
export type KindDeps = {
  readonly db: Pick<Db, "query">;
  readonly keys: KeyRing;
  readonly rootKeyOf: RootKeyOf;
  readonly holdRootKey: HoldRootKey;
  /** Programs that the operator allows managers to ask, by name (RAILHEAD_SECRET_COMMANDS). */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  /** `Clock.elapsed`: bounds how long a call waits for its turn. */
  readonly elapsed: () => number;
};

/** A kind of secret manager: one file, and one line in kinds.ts. */
export type ManagerKind<Spec = unknown> = {
  /** On the wire. */
  readonly type: string;
  readonly spec: z.ZodType<Spec>;
  readonly wrapper: (deps: KindDeps) => KeyWrapper;
};

import type { Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";

/** A data key as it is stored: `keyId` says which of its manager's keys opens it. */
export type WrappedKey = { readonly keyId: string; readonly wrapped: Buffer };

/** Which manager of which account. */
export type ManagerRef = { readonly accountId: Uuid; readonly managerId: Uuid };

/**
 * A kind of secret manager: it keeps keys that never leave it, and wraps data keys with them. `identity` names the
 * record; a wrapped key opens under the same one only. May ask another program, so never call it in a transaction.
 */
export type KeyWrapper = {
  readonly wrap: (manager: ManagerRef, dataKey: Buffer, identity: string) => Promise<WrappedKey>;
  /** Rejects when manager, key, identity or a byte is another one. */
  readonly unwrap: (manager: ManagerRef, key: WrappedKey, identity: string) => Promise<Buffer>;
  /**
   * Asked in the transaction that stores what `wrap` gave: false when the manager wraps with another key by now, so that
   * it has to be done again. Without it, every key of the manager stays good.
   */
  readonly hold?: (tx: Tx, manager: ManagerRef, keyId: string) => Promise<boolean>;
};

/** Interface of a slice's sealed values, for changing root keys and for verifying that each value can be opened. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../db/db.ts";
import type { KeyRing } from "./key-ring.ts";

/**
 * Result of one batch. `failed` names what could not be opened, without values. `missingKeyIds` has the id of the
 * missing root key for each item that only lacks its key.
 */
export type BatchResult = {
  readonly done: number;
  readonly failed: readonly string[];
  readonly missingKeyIds?: readonly string[];
};

/** The sealed values of one slice. The results of the batches add up. */
export type SealedStore = {
  /** Plural noun for messages, as in "webhook tokens". */
  readonly what: string;
  /**
   * Seals all values again under this root key, which the account uses already. Each batch commits on its own; a
   * second call after an interruption continues with the rest.
   */
  readonly reseal: (accountId: Uuid, keyId: string) => AsyncGenerator<BatchResult>;
  /** Opens every value. */
  readonly verify: (accountId: Uuid) => AsyncGenerator<BatchResult>;
  /** Counts what is sealed under root keys other than these. Reads no sealed value. */
  readonly countUnderOtherKeys: (db: Store, accountId: Uuid, keyIds: readonly string[]) => Promise<readonly UnderKey[]>;
};

/** The number of items that need one root key, and the names of the first few. */
export type UnderKey = { readonly keyId: string; readonly count: number; readonly names: readonly string[] };

/** Most names that one message lists. */
export const MAX_NAMES = 3;

/** A root key that is needed and was not given; `what` as in `520 secrets (a, b, c, …) and 5 webhook tokens (…)`. */
export type MissingRootKey = { readonly keyId: string; readonly what: string };

/**
 * Lists the root keys that stored values need and the key ring lacks. Empty: everything can be opened. Called in the
 * transaction that changes the root key, the result is valid for what that transaction commits.
 */
export async function findMissingRootKeys(
  db: Store,
  accountId: Uuid,
  {
    keys,
    stores,
  }: { readonly keys: KeyRing; readonly stores: readonly Pick<SealedStore, "what" | "countUnderOtherKeys">[] },
): Promise<readonly MissingRootKey[]> {
  const given = keys.all.map(({ id }) => id);
  const missing = new Map<string, string[]>();
  for (const { what, countUnderOtherKeys } of stores)
    for (const { keyId, count, names } of await countUnderOtherKeys(db, accountId, given)) {
      const list = [...names, ...(count > names.length ? ["…"] : [])].join(", ");
      missing.set(keyId, [...(missing.get(keyId) ?? []), `${count} ${what} (${list})`]);
    }
  return [...missing].map(([keyId, things]) => ({ keyId, what: things.join(" and ") }));
}

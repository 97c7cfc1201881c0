/** What a slice that keeps sealed values owes to whoever changes root keys, and to whoever asks whether they all open. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../db/db.ts";
import type { KeyRing } from "./key-ring.ts";

/**
 * How far one batch got. `failed` names what could not be opened, never a value; `lacking` has, for each thing that could not
 * for want of its root key alone, the id of that key.
 */
export type Swept = {
  readonly done: number;
  readonly failed: readonly string[];
  readonly lacking?: readonly string[];
};

export type SealedStore = {
  /** For people, as in "webhook tokens". */
  readonly what: string;
  /**
   * Brings what is sealed under another root key under this one, which the account uses already, in batches that commit
   * one by one. Begun anew after an interruption it finds what is left.
   */
  readonly reseal: (accountId: Uuid, keyId: string) => AsyncGenerator<Swept>;
  /** Opens everything. */
  readonly verify: (accountId: Uuid) => AsyncGenerator<Swept>;
  /** What is sealed under other root keys than these, by the id of the key. Reads no sealed value. */
  readonly underOthers: (
    db: { readonly query: Query },
    accountId: Uuid,
    keyIds: readonly string[],
  ) => Promise<readonly UnderKey[]>;
};

/** Things that need one root key: how many, and the first few by name. */
export type UnderKey = { readonly keyId: string; readonly count: number; readonly names: readonly string[] };

/** So many of them are told: whoever has lost a key finds them one after the other. */
export const NAMES_TOLD = 3;

/** A root key that was not given and is needed; `what` as in `520 secrets (a, b, c, …) and 5 webhook tokens (…)`. */
export type Lacked = { readonly keyId: string; readonly what: string };

/** Asked in the transaction that changes the root key, it holds for what that commits. Empty: all that is stored can be opened. */
export async function lackedKeys(
  db: { readonly query: Query },
  { all }: KeyRing,
  accountId: Uuid,
  stores: readonly Pick<SealedStore, "what" | "underOthers">[],
): Promise<readonly Lacked[]> {
  const given = all.map(({ id }) => id);
  const lacked = new Map<string, string[]>();
  for (const { what, underOthers } of stores)
    for (const { keyId, count, names } of await underOthers(db, accountId, given)) {
      const told = [...names, ...(count > names.length ? ["…"] : [])].join(", ");
      lacked.set(keyId, [...(lacked.get(keyId) ?? []), `${count} ${what} (${told})`]);
    }
  return [...lacked].map(([keyId, things]) => ({ keyId, what: things.join(" and ") }));
}

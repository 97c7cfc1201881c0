/** What a slice that keeps sealed values owes to whoever changes root keys, and to whoever asks whether they all open. */
import type { Uuid } from "../../core/ids.ts";

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
};

/** Results of lookups, cached for a short time. Lookups of one key at the same time are one. */
import { currentTurn } from "./db/pool/budget.ts";
import { createLru } from "./lru.ts";

/** `until`: the time from which the value has to be looked up again. */
export type Lookup<V> = { readonly value: V; readonly until: number };

export type CachedLookup<V> = {
  /**
   * Returns the cached value, or the result of `lookUp`, which gets the time of its beginning. Synchronous for a cached
   * value. An absent value is not cached. A lookup may wait long for a connection, so it is joined only in its first
   * second, and only by senders in the same line.
   */
  readonly find: (key: string, lookUp: (begun: number) => Promise<Lookup<V> | undefined>) => V | Promise<V | undefined>;
  /** Forgets everything. The results of lookups under way reach only those who wait for them. */
  readonly clear: () => void;
};

const JOINED_MS = 1_000;

type UnderWay<V> = { readonly begun: number; readonly result: Promise<V | undefined> };

export function createCachedLookup<V>(capacity: number, now: () => number): CachedLookup<V> {
  const create = () => ({
    found: createLru<string, Lookup<V>>(capacity),
    underWay: new Map<string, UnderWay<V>>(),
  });
  let current = create();

  return {
    find(key, lookUp) {
      // `clear` replaces both maps; a lookup that is under way then writes into the discarded ones.
      const { found, underWay } = current;
      const begun = now();
      const known = found.get(key);
      if (known && known.until > begun) return known.value;
      const line = [...currentTurn(), key].join(" ");
      const other = underWay.get(line);
      if (other && begun - other.begun < JOINED_MS && begun >= other.begun) return other.result;
      found.delete(key);
      const own = { begun, result: look() };
      underWay.set(line, own);
      return own.result;

      async function look(): Promise<V | undefined> {
        try {
          const lookup = await lookUp(begun);
          if (lookup) found.set(key, lookup);
          return lookup?.value;
        } finally {
          if (underWay.get(line) === own) underWay.delete(line);
        }
      }
    },
    clear: () => void (current = create()),
  };
}

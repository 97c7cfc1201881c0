/** Results of lookups, cached for a short time. Concurrent lookups of one key are one. */
import { createLru } from "./lru.ts";

/** `until`: the time from which the value has to be looked up again. */
export type Lookup<V> = { readonly value: V; readonly until: number };

export type CachedLookup<V> = {
  /**
   * Returns the cached value, or the result of `lookUp`, which gets the time. Synchronous for a cached value. An absent
   * value is not cached.
   */
  readonly find: (key: string, lookUp: (now: number) => Promise<Lookup<V> | undefined>) => V | Promise<V | undefined>;
  /** Forgets everything. The results of lookups under way reach only those who wait for them. */
  readonly clear: () => void;
};

export function createCachedLookup<V>(capacity: number, now: () => number): CachedLookup<V> {
  const create = () => ({
    found: createLru<string, Lookup<V>>(capacity),
    underWay: new Map<string, Promise<V | undefined>>(),
  });
  let current = create();

  async function look(key: string, lookUp: (now: number) => Promise<Lookup<V> | undefined>, at: number) {
    // `clear` replaces both maps; this lookup then writes into the discarded ones.
    const { found, underWay } = current;
    found.delete(key);
    try {
      const result = await lookUp(at);
      if (result) found.set(key, result);
      return result?.value;
    } finally {
      underWay.delete(key);
    }
  }

  return {
    find(key, lookUp) {
      const at = now();
      const known = current.found.get(key);
      if (known && known.until > at) return known.value;
      const { underWay } = current;
      const running = underWay.get(key);
      if (running) return running;
      const begun = look(key, lookUp, at);
      underWay.set(key, begun);
      return begun;
    },
    clear: () => void (current = create()),
  };
}

/** A map that forgets what was used least recently once its weights sum up to more than `capacity`. */
export type Lru<K, V> = {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
  readonly size: () => number;
};

/** `weigh` gives the weight of an entry, 1 unless told otherwise; a single entry above the capacity is not kept. */
export function makeLru<K, V>(capacity: number, weigh: (key: K, value: V) => number = () => 1): Lru<K, V> {
  // A Map keeps the order of insertion: the first key is the one used least recently.
  const entries = new Map<K, { readonly value: V; readonly weight: number }>();
  let total = 0;

  function remove(key: K): void {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      remove(key);
      const weight = weigh(key, value);
      entries.set(key, { value, weight });
      total += weight;
      for (const [oldest] of entries) {
        if (total <= capacity) break;
        remove(oldest);
      }
    },
    delete: remove,
    size: () => entries.size,
  };
}

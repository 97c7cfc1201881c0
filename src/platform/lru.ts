/** A map that removes the least recently used entries when the sum of weights exceeds `capacity`. */
export type Lru<K, V> = {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
  readonly size: () => number;
};

type Entry<V> = { readonly value: V; readonly weight: number };

/**
 * `weigh` returns the weight of an entry, by default 1. An entry heavier than the capacity is not stored.
 *
 * Entries are in two generations instead of one exact order, so that a hit among the young is one lookup without a
 * write. A hit among the old moves the entry to the young. When the young weigh half the capacity, they become old;
 * the entries that were old before are removed first.
 */
export function createLru<K, V>(capacity: number, weigh: (key: K, value: V) => number = () => 1): Lru<K, V> {
  let young = new Map<K, Entry<V>>();
  const old = new Map<K, Entry<V>>();
  let [weight, youngWeight] = [0, 0];

  function remove(key: K): void {
    const entry = young.get(key);
    const { weight: removed } = entry ?? old.get(key) ?? { weight: 0 };
    weight -= removed;
    if (entry) youngWeight -= removed;
    young.delete(key);
    old.delete(key);
  }

  function add(key: K, entry: Entry<V>): void {
    young.set(key, entry);
    weight += entry.weight;
    youngWeight += entry.weight;
    evict(old);
    evict(young);
    if (youngWeight <= capacity / 2) return;
    // The remaining old entries are evicted first: a Map iterates in insertion order.
    for (const [next, one] of young) old.set(next, one);
    young = new Map<K, Entry<V>>();
    youngWeight = 0;
  }

  function evict(entries: ReadonlyMap<K, Entry<V>>): void {
    if (weight <= capacity) return;
    for (const [oldest] of entries) {
      remove(oldest);
      if (weight <= capacity) return;
    }
  }

  return {
    get(key) {
      const entry = young.get(key);
      if (entry) return entry.value;
      const aged = old.get(key);
      if (!aged) return undefined;
      remove(key);
      add(key, aged);
      return aged.value;
    },
    set(key, value) {
      remove(key);
      add(key, { value, weight: weigh(key, value) });
    },
    delete: remove,
    size: () => young.size + old.size,
  };
}

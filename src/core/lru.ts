/** A map that forgets what was not used for long once its weights sum up to more than `capacity`. */
export type Lru<K, V> = {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
  readonly size: () => number;
};

type Entry<V> = { readonly value: V; readonly weight: number };

/**
 * `weigh` gives the weight of an entry, 1 unless told otherwise; a single entry above the capacity is not kept.
 *
 * Two generations instead of one exact order: what is found among the young costs one look, where an order would be
 * written twice. What is used moves to the young; once they weigh half the capacity they are the old ones, and
 * what was old and not used meanwhile is forgotten first.
 */
export function createLru<K, V>(capacity: number, weigh: (key: K, value: V) => number = () => 1): Lru<K, V> {
  let young = new Map<K, Entry<V>>();
  const old = new Map<K, Entry<V>>();
  let [weight, ofYoung] = [0, 0];

  function remove(key: K): void {
    const entry = young.get(key);
    const { weight: gone } = entry ?? old.get(key) ?? { weight: 0 };
    weight -= gone;
    if (entry) ofYoung -= gone;
    young.delete(key);
    old.delete(key);
  }

  function add(key: K, entry: Entry<V>): void {
    young.set(key, entry);
    weight += entry.weight;
    ofYoung += entry.weight;
    forget(old);
    forget(young);
    if (ofYoung <= capacity / 2) return;
    // What is left of the old ones stays the first to go: a Map keeps the order of insertion.
    for (const [next, one] of young) old.set(next, one);
    young = new Map<K, Entry<V>>();
    ofYoung = 0;
  }

  function forget(entries: ReadonlyMap<K, Entry<V>>): void {
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

import { Problem } from "../../../core/problem.ts";

/**
 * Loads the values for all nodes of a list at once. A field below a list would otherwise send a statement for each
 * node. The batch belongs to one request, because `context` is created for each.
 */
export function createBatch<Context extends object, Key, Value>(
  /**
   * Values in the order of the keys; a problem in place of a value fails only its key. `variant` separates calls that
   * cannot share a statement. A key that several fields ask for, as under aliases, is contained once.
   */
  load: (context: Context, keys: readonly Key[], variant: string) => Promise<readonly (Value | Problem)[]>,
): (context: Context, key: Key, variant: string) => Promise<Value> {
  type Asked = { readonly places: Map<Key, number>; readonly values: Promise<readonly (Value | Problem)[]> };
  const open = new WeakMap<Context, Map<string, Asked>>();
  return async (context, key, variant) => {
    const batches = open.get(context) ?? new Map<string, Asked>();
    open.set(context, batches);
    let batch = batches.get(variant);
    if (!batch) {
      const places = new Map<Key, number>();
      // The fields of a list's nodes are resolved in the same turn, after which all keys are known.
      const values = Promise.resolve().then(() => {
        batches.delete(variant);
        return load(context, [...places.keys()], variant);
      });
      batches.set(variant, (batch = { places, values }));
    }
    const at = batch.places.get(key) ?? batch.places.size;
    batch.places.set(key, at);
    const value = (await batch.values)[at] as Value | Problem;
    if (value instanceof Problem) throw value;
    return value;
  };
}

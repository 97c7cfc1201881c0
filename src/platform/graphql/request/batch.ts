import { Problem } from "../../../core/problem.ts";

/**
 * What the nodes of a list ask for one by one, asked for all of them at once: a field below a list would otherwise send a
 * statement for each. Kept for one request only, since `context` is made for each.
 */
export function createBatch<Context extends object, Key, Value>(
  /**
   * Values in the order of the keys; a problem instead of a value fails for its key alone. `variant` tells calls apart
   * that cannot share a statement.
   */
  load: (context: Context, keys: readonly Key[], variant: string) => Promise<readonly (Value | Problem)[]>,
): (context: Context, key: Key, variant: string) => Promise<Value> {
  type Asked = { readonly keys: Key[]; readonly values: Promise<readonly (Value | Problem)[]> };
  const open = new WeakMap<Context, Map<string, Asked>>();
  return async (context, key, variant) => {
    const batches = open.get(context) ?? new Map<string, Asked>();
    open.set(context, batches);
    let batch = batches.get(variant);
    if (!batch) {
      const keys: Key[] = [];
      // The fields of a list's nodes are resolved one after the other without a pause: after it, all keys are there.
      const values = Promise.resolve().then(() => {
        batches.delete(variant);
        return load(context, keys, variant);
      });
      batches.set(variant, (batch = { keys, values }));
    }
    const at = batch.keys.push(key) - 1;
    const value = (await batch.values)[at] as Value | Problem;
    if (value instanceof Problem) throw value;
    return value;
  };
}

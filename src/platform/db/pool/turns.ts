/**
 * What waits, in turns. A path names the group, the group inside it and so on: `[account, trigger]`. A group has either
 * groups or what waits, never both.
 */
type Group<T> = { readonly waiting: Set<T>; readonly groups: Map<string, Group<T>> };

export type Turns<T> = {
  /** Returns a function that removes what waits, or undefined if `most` wait in this group already. */
  readonly add: (path: readonly string[], one: T) => (() => void) | undefined;
  /**
   * Removes and returns what comes next; undefined if nothing waits. Groups of one level take turns, and what waits in
   * the same group comes in the order of `add`.
   */
  readonly takeNext: () => T | undefined;
};

/** @param most how many wait in one group */
export function createTurns<T>(most: number): Turns<T> {
  const create = (): Group<T> => ({ waiting: new Set(), groups: new Map() });
  const all = create();

  function take({ waiting, groups }: Group<T>): T | undefined {
    for (const [name, group] of groups) {
      groups.delete(name);
      const next = take(group);
      // An empty group is forgotten. Another one moves behind all others that wait.
      if (next === undefined) continue;
      groups.set(name, group);
      return next;
    }
    const [first] = waiting;
    if (first !== undefined) waiting.delete(first);
    return first;
  }

  return {
    add: (path, one) => {
      const { waiting } = path.reduce((group, name) => {
        const inside = group.groups.get(name) ?? create();
        group.groups.set(name, inside);
        return inside;
      }, all);
      if (waiting.size >= most) return undefined;
      waiting.add(one);
      return () => void waiting.delete(one);
    },
    takeNext: () => take(all),
  };
}

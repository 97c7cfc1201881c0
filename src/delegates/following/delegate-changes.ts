/** The delegates of an account as an event stream sends them, each with the number of its last change. */
import type { Uuid } from "../../core/ids.ts";
import { withConnected, type RegisteredDelegate } from "../delegate.ts";
import { delegateWire } from "../wire.ts";

type Entry = { readonly at: number; readonly state: string; readonly json: string; readonly isDeleted: boolean };

export type DelegateChanges = ReturnType<typeof createDelegateChanges>;

/** @param maxDeleted deleted delegates that are kept for followers; those that know less list the delegates anew */
export function createDelegateChanges(maxDeleted: number) {
  const entries = new Map<Uuid, Entry>();
  let [at, forgottenAt] = [0, 0];

  function forgetDeleted(): void {
    const deleted = [...entries].filter(([, { isDeleted }]) => isDeleted);
    if (deleted.length <= maxDeleted) return;
    for (const [id] of deleted) entries.delete(id);
    forgottenAt = at;
  }

  return {
    /** The number of the last change. */
    at: (): number => at,
    /** The delegates that are known and not deleted. */
    remaining: (): readonly Uuid[] => [...entries].flatMap(([id, { isDeleted }]) => (isDeleted ? [] : [id])),
    /**
     * Takes the present state of these delegates. Returns whether something has changed, other than the time of the
     * last heartbeat.
     * @param since LOST_AFTER_MS ago, epoch milliseconds
     */
    update(delegates: readonly RegisteredDelegate[], since: number): boolean {
      const changed: [Uuid, Omit<Entry, "at">][] = [];
      for (const delegate of delegates) {
        const wire = delegateWire(withConnected(delegate, since));
        const state = JSON.stringify({ ...wire, lastHeartBeat: 0 });
        if (entries.get(delegate.id)?.state === state) continue;
        changed.push([delegate.id, { state, json: JSON.stringify(wire), isDeleted: delegate.status === "DELETED" }]);
      }
      if (changed.length === 0) return false;
      at += 1;
      for (const [id, entry] of changed) entries.set(id, { ...entry, at });
      forgetDeleted();
      return true;
    },
    /** What has changed after a number, as JSON; undefined if that is not known any more. */
    since: (known: number): readonly string[] | undefined =>
      known < forgottenAt
        ? undefined
        : [...entries.values()].filter((entry) => entry.at > known).map(({ json }) => json),
  };
}

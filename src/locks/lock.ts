/** Locks that nodes of executions ask for, and the rule by which they are granted. */
import type { Uuid } from "../core/ids.ts";

/** `step`: the key of a step of the type Queue. `stage`: the infrastructure of a stage. Equal keys of two kinds differ. */
export type LockKey = { readonly accountId: Uuid; readonly kind: "step" | "stage"; readonly key: string };

/** A node that waits for a lock, or has got it for its holder: the node at whose end it is released. */
export type LockRequest = {
  /** Counts the requests of all keys. */
  readonly turn: number;
  readonly holderId: Uuid;
  /** The node that asked, and all nodes around it. */
  readonly around: readonly Uuid[];
  readonly isGranted: boolean;
};

/**
 * The requests of a key that may be granted, by their turn. First come, first served. A request below the node that
 * holds the lock is granted before all others: what holds the lock would wait for itself.
 */
export function nextGrants(requests: readonly LockRequest[]): readonly LockRequest[] {
  const holders = new Set(requests.flatMap(({ isGranted, holderId }) => (isGranted ? [holderId] : [])));
  return requests.filter(({ isGranted, holderId, around }) => {
    if (isGranted || !holders.values().every((holder) => around.includes(holder))) return false;
    holders.add(holderId);
    return true;
  });
}

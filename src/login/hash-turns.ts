/** Whose password is hashed next: a hash takes 19 MiB and a thread that files and names need, too. */
import type { Uuid } from "../core/ids.ts";
import { createFairTurns } from "../platform/fair-turns.ts";
import { networkOf } from "./back-off.ts";
import { problem } from "./problems.ts";

/** A caller who has not proved who they are, by the address; or an actor whose credential was checked. */
export type Hasher =
  | { readonly kind: "visitor"; readonly address: string }
  | { readonly kind: "signed-in"; readonly id: Uuid };

/** Throws `login.busy` without running the work if too many wait, or if its turn comes too late. */
export type HashInTurn = <T>(hasher: Hasher, work: () => Promise<T>) => Promise<T>;

/** Of four threads that Node has for such work, two stay free for files and names. */
const AT_ONCE = 2;
const VISITORS = { atOnce: AT_ONCE, atOnceOfOne: AT_ONCE, waiting: 200, waitingOfOne: 50 };
const ALL = { atOnce: AT_ONCE, atOnceOfOne: AT_ONCE, waiting: 200, waitingOfOne: 10 };
const WAIT_MS = 10_000;

/**
 * Visitors first take turns among themselves, by network, so that one network does not hold up the others. All visitors
 * together are one group beside the signed-in actors, so that many sign-ins delay an actor by one hash and do not refuse the actor.
 */
export function createHashQueue(elapsed: () => number): HashInTurn {
  const amongVisitors = createFairTurns(VISITORS, elapsed);
  const amongAll = createFairTurns(ALL, elapsed);
  return async (hasher, work) => {
    const until = elapsed() + WAIT_MS;
    // In an object, since the work may answer undefined itself.
    const boxed = async () => ({ result: await work() });
    const done = await (hasher.kind === "signed-in"
      ? amongAll(`signed-in ${hasher.id}`, until, boxed)
      : amongVisitors(networkOf(hasher.address), until, () => amongAll("visitors", until, boxed)));
    if (!done) throw problem("login.busy", [], { retryAfter: 3 });
    return done.result;
  };
}

/** Limits and orders password hashing: a hash takes 19 MiB and one of the threads that files and DNS need, too. */
import type { Uuid } from "../../core/ids.ts";
import { createFairTurns } from "../../platform/fair-turns.ts";
import { networkOf } from "../../platform/network-of.ts";
import { problem } from "../problems.ts";

/** An unauthenticated caller, by address, or an authenticated actor. */
export type Hasher =
  | { readonly kind: "visitor"; readonly address: string }
  | { readonly kind: "signed-in"; readonly id: Uuid };

/** Runs the work in turn. Throws `login.busy`, without running it, if too many wait or if it waits too long. */
export type EnqueueHash = <T>(hasher: Hasher, work: () => Promise<T>) => Promise<T>;

/** Two of Node's four threads stay free for files and DNS. */
const AT_ONCE = 2;
const VISITORS = { atOnce: AT_ONCE, atOnceOfOne: AT_ONCE, waiting: 200, waitingOfOne: 50 };
const ALL = { atOnce: AT_ONCE, atOnceOfOne: AT_ONCE, waiting: 200, waitingOfOne: 10 };
const WAIT_MS = 10_000;

/**
 * Unauthenticated callers first take turns among themselves, by network, so that one network does not delay the others.
 * All of them together are one group beside the authenticated actors: many sign-ins delay an actor by one hash and
 * never refuse it.
 */
export function createHashQueue(elapsed: () => number): EnqueueHash {
  const amongVisitors = createFairTurns(VISITORS, elapsed);
  const amongAll = createFairTurns(ALL, elapsed);
  return async (hasher, work) => {
    const until = elapsed() + WAIT_MS;
    // In an object, since the result of the work may be undefined.
    const boxed = async () => ({ result: await work() });
    const done = await (hasher.kind === "signed-in"
      ? amongAll(`signed-in ${hasher.id}`, until, boxed)
      : amongVisitors(networkOf(hasher.address), until, () => amongAll("visitors", until, boxed)));
    if (!done) throw problem("login.busy", [], { retryAfter: 3 });
    return done.result;
  };
}

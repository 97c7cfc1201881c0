/**
 * Measures how long the delegates that lease tasks have been silent, and so decides which are lost. It compares no
 * times of other machines: a delegate's `seen_at` is only a value that changes whenever any server hears from it. This
 * server measures with its own monotonic clock for how long the value has not changed
 * (docs/decisions/0022-clocks.md).
 *
 * A server that could not read the database, because it was suspended or the database did not answer, does not know
 * what other servers heard meanwhile. Every delegate then gets the full time again, as after the start of a server.
 */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import { LOST_AFTER_MS } from "../delegate.ts";
import type { TaskHolder } from "../store/silent.ts";

/** After a longer time between two reads, delegates may have been heard from in between. */
const MAX_BETWEEN_READS_MS = 30_000;

type Observation = { readonly seenAt: number; readonly since: number };

export type SilenceTracker = ReturnType<typeof createSilenceTracker>;

export function createSilenceTracker({ elapsed }: Pick<Clock, "elapsed">) {
  let observations = new Map<Uuid, Observation>();
  let lastReadAt = elapsed();

  return {
    /** Takes the delegates that lease tasks; returns those that were silent for LOST_AFTER_MS. */
    findSilent(holders: readonly TaskHolder[]): readonly TaskHolder[] {
      const now = elapsed();
      if (now - lastReadAt > MAX_BETWEEN_READS_MS) observations = new Map();
      lastReadAt = now;
      const before = observations;
      observations = new Map(
        holders.map(({ delegateId, seenAt }) => {
          const known = before.get(delegateId);
          return [delegateId, known?.seenAt === seenAt ? known : { seenAt, since: now }];
        }),
      );
      return holders.filter(({ delegateId }) => now - (observations.get(delegateId)?.since ?? now) > LOST_AFTER_MS);
    },
    /** A heartbeat could not be stored: the measured silence is not valid. */
    restart: (): void => observations.clear(),
  };
}

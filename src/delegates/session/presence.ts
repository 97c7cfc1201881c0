/**
 * Decides which delegates are lost. No time of another machine is compared: a delegate's `seen_at` is only a value that
 * changes while any server hears of it, and this server measures with its own monotonic clock for how long it has not
 * changed (docs/decisions/0022-clocks.md).
 *
 * A server that could not look, because it was paused or the database did not answer, does not know what others heard
 * meanwhile. Every delegate then gets the whole time again, as it does when a server starts.
 */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import { LOST_AFTER_MS } from "../delegate.ts";
import type { TaskHolder } from "../store/silent.ts";

/** More time than this between two looks at the database: delegates may have been heard of in between. */
export const MOST_BETWEEN_LOOKS_MS = 30_000;

type Observed = { readonly seenAt: number; readonly since: number };

export type Presence = ReturnType<typeof createPresence>;

export function createPresence({ elapsed }: Pick<Clock, "elapsed">) {
  let observed = new Map<Uuid, Observed>();
  let lookedAt = elapsed();

  return {
    /** Takes what the database says of the delegates that hold tasks; answers those that were silent for LOST_AFTER_MS. */
    look(holders: readonly TaskHolder[]): readonly TaskHolder[] {
      const now = elapsed();
      if (now - lookedAt > MOST_BETWEEN_LOOKS_MS) observed = new Map();
      lookedAt = now;
      const before = observed;
      observed = new Map(
        holders.map(({ delegateId, seenAt }) => {
          const known = before.get(delegateId);
          return [delegateId, known?.seenAt === seenAt ? known : { seenAt, since: now }];
        }),
      );
      return holders.filter(({ delegateId }) => now - (observed.get(delegateId)?.since ?? now) > LOST_AFTER_MS);
    },
    /** A sign of life could not be stored: the silence of delegates says nothing for now. */
    interrupted: (): void => observed.clear(),
  };
}

/** The newest deliveries of the triggers that are followed on this server. Followers of a trigger share one feed. */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { createPace, resumed } from "../../platform/pace.ts";
import { selectDeliveries, selectDeliveriesById } from "../store/deliveries.ts";
import { isTriggerLive } from "../store/triggers.ts";
import type { ListedDelivery } from "./delivery.ts";
import type { DeliveryWakeups } from "./wakeups.ts";

/** What followers are sent: the newest deliveries, and older ones that were pending when they were read last. */
export const NEWEST = 50;
const MOST_PENDING = 200;
/** A feed reads again after this time, in case a notification was lost (invariant 9). */
const LOOK_AGAIN_MS = 5_000;

export type FeedDeps = {
  readonly db: Db;
  readonly clock: Pick<Clock, "elapsed">;
  readonly wakeups: Pick<DeliveryWakeups, "subscribe">;
  readonly onError: (error: unknown) => void;
};

/** One reading. `changed`: older deliveries that are no longer pending. */
export type Reading = {
  readonly nth: number;
  readonly newest: readonly ListedDelivery[];
  readonly changed: readonly ListedDelivery[];
  /** The trigger exists. */
  readonly isLive: boolean;
};

export type TriggerKey = { readonly accountId: Uuid; readonly triggerId: Uuid };

export type DeliveryFeed = {
  readonly reading: () => Reading | undefined;
  /** Resolves at the next reading, after `ms`, or when `signal` aborts. */
  readonly next: (after: number, ms: number, signal: AbortSignal) => Promise<void>;
};

export function createDeliveryFeeds(deps: FeedDeps) {
  const all = new Map<Uuid, ReturnType<typeof startFeed> & { followers: number }>();

  return {
    /** Calls `work` with the feed of the trigger, which stays until the promise settles. */
    async follow(trigger: TriggerKey, work: (feed: DeliveryFeed) => Promise<void>): Promise<void> {
      const shared = all.get(trigger.triggerId) ?? { ...startFeed(deps, trigger), followers: 0 };
      all.set(trigger.triggerId, shared);
      shared.followers += 1;
      try {
        await work(shared);
      } finally {
        shared.followers -= 1;
        if (shared.followers === 0) {
          shared.stop();
          if (all.get(trigger.triggerId) === shared) all.delete(trigger.triggerId);
        }
      }
    },
  };
}

function startFeed(
  { db, clock, wakeups, onError }: FeedDeps,
  trigger: TriggerKey,
): DeliveryFeed & { stop: () => void } {
  const waiting = new Set<() => void>();
  let reading: Reading | undefined;
  let pending: readonly Uuid[] = [];

  async function read(): Promise<void> {
    try {
      const newest = await selectDeliveries(db, trigger, { limit: NEWEST });
      const shown = new Set(newest.map(({ id }) => id));
      const older = pending.filter((id) => !shown.has(id));
      const asked = older.length > 0 ? await selectDeliveriesById(db, trigger, older) : [];
      const stillPending = [...newest, ...asked].filter(({ status }) => status === null).map(({ id }) => id);
      pending = stillPending.slice(0, MOST_PENDING);
      reading = {
        nth: (reading?.nth ?? 0) + 1,
        newest,
        changed: asked.filter(({ status }) => status !== null),
        isLive: await isTriggerLive(db, trigger.accountId, trigger.triggerId),
      };
      for (const resume of waiting) resume();
    } catch (error) {
      onError(error);
    }
  }

  const pace = createPace(clock, read);
  const unsubscribe = wakeups.subscribe(trigger.triggerId, () => pace.run());
  const timer = setInterval(() => pace.run(), LOOK_AGAIN_MS).unref();
  pace.run();
  return {
    reading: () => reading,
    async next(after, ms, signal) {
      if ((reading?.nth ?? 0) > after || signal.aborted) return;
      await resumed(waiting, ms, signal);
    },
    stop() {
      clearInterval(timer);
      unsubscribe();
      pace.stop();
    },
  };
}

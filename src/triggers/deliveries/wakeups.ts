/**
 * Wakes the readers that follow the deliveries of a trigger: here at once, on other replicas by NOTIFY. Many changes
 * within a moment become one notification.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { createNotificationBatcher } from "../../platform/db/notify/notification-batcher.ts";

const CHANNEL = "railhead_deliveries";

export type DeliveryWakeups = ReturnType<typeof createDeliveryWakeups>;

export function createDeliveryWakeups(deps: { db: Db; origin: Uuid; onError: (error: unknown) => void }) {
  const woken = new Map<string, () => void>();
  const others = createNotificationBatcher({ ...deps, channel: CHANNEL, prefix: deps.origin });

  const stop = deps.db.listen(CHANNEL, (payload) => {
    // Notifications may have been missed.
    if (payload === "") for (const wake of woken.values()) wake();
    const [origin, ...ids] = payload.split(" ");
    if (origin === deps.origin) return;
    for (const id of ids) woken.get(id)?.();
  });

  return {
    /** Something about the deliveries of the trigger was committed. */
    wake: (triggerId: Uuid): void => {
      woken.get(triggerId)?.();
      others.add(triggerId);
    },
    /** Calls `wake` at each change. Returns a function that unsubscribes. */
    subscribe: (triggerId: Uuid, wake: () => void): (() => void) => {
      woken.set(triggerId, wake);
      return () => {
        if (woken.get(triggerId) === wake) woken.delete(triggerId);
      };
    },
    stop: (): void => {
      others.stop();
      stop();
    },
  };
}

import type { Uuid } from "../../core/ids.ts";
import type { Delivery } from "../trigger.ts";

/** The deliveries that this replica is working on. */
export type ActiveDeliveries = {
  readonly ids: () => readonly Uuid[];
  /** Works on one unless that is under way here already. Never rejects: a failure is reported. */
  readonly take: (delivery: Delivery, work: () => Promise<void>) => Promise<void>;
};

/** What is under way for long would else be begun again each second, and take longer for it. */
export function createActiveDeliveries(onError: (error: unknown) => void): ActiveDeliveries {
  const ids = new Set<Uuid>();
  return {
    ids: () => [...ids],
    async take({ id }, work) {
      if (ids.has(id)) return;
      ids.add(id);
      try {
        await work();
      } catch (error) {
        onError(error);
      } finally {
        ids.delete(id);
      }
    },
  };
}

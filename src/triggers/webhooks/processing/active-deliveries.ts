import type { Uuid } from "../../../core/ids.ts";
import type { Delivery } from "../../trigger.ts";

/** The deliveries that this replica is processing. */
export type ActiveDeliveries = {
  readonly ids: () => readonly Uuid[];
  /** Processes a delivery unless this replica is processing it already. Never rejects; reports a failure. */
  readonly take: (delivery: Delivery, work: () => Promise<void>) => Promise<void>;
};

/** Prevents the sweep from starting a slow delivery again each second. */
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

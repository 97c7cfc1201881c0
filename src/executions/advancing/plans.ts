/** Plans never change, so the latest ones are kept rather than read again for every event. */
import { upgradePlan, type Plan } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { createLru } from "../../platform/lru.ts";
import { findPlan, type RunKey } from "../store/advance.ts";

/** Characters of their JSON at most: one plan may have several million, with the payload that started it. */
const CAPACITY = 64 * 1024 * 1024;

type KeptPlan = { readonly plan: Plan; readonly length: number };

export type Plans = {
  /** Throws for a plan that is damaged, or of a later format. */
  readonly of: (db: Store, run: RunKey) => Promise<Plan>;
  readonly keep: (id: Uuid, plan: KeptPlan) => void;
};

export function createPlans(capacity = CAPACITY): Plans {
  const plans = createLru<Uuid, KeptPlan>(capacity, (_, { length }) => length);
  return {
    async of(db, run) {
      const kept = plans.get(run.id);
      if (kept) return kept.plan;
      const found = await findPlan(db, run);
      if (!found) throw new Error(`execution ${run.id} has no plan`);
      const plan = upgradePlan(found.plan);
      plans.set(run.id, { plan, length: found.length });
      return plan;
    },
    keep: plans.set,
  };
}

import type { Authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { LOST_AFTER_MS, withConnected, type ListedDelegate } from "../delegate.ts";
import { problem } from "../problems.ts";
import { selectDelegates } from "../store/registry.ts";

/** Returns a delegate by its id on the wire, also a deleted one. Throws `delegate.not_found`. */
export const getDelegate =
  (deps: { readonly db: Db; readonly authorize: Authorize; readonly clock: Clock }) =>
  async (actor: Actor, delegateId: string): Promise<ListedDelegate> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_view", { accountId });
    const id = fromWire(delegateId);
    const [found] = id ? await selectDelegates(deps.db, accountId, { ids: [id] }, { limit: 1, offset: 0 }) : [];
    if (!found) throw problem("delegate.not_found", [delegateId]);
    return withConnected(found, deps.clock.now() - LOST_AFTER_MS);
  };

export type GetDelegate = ReturnType<typeof getDelegate>;

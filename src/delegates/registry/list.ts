import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Authorize } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { LOST_AFTER_MS, withConnected, type ListedDelegate } from "../delegate.ts";
import { countDelegates, selectDelegates, type DelegateFilter } from "../store/registry.ts";

/** `connected` depends on the clock: any replica heard from it within LOST_AFTER_MS. */
export type ListFilter = Omit<DelegateFilter, "seenSince" | "gone"> & { readonly connected?: boolean | undefined };

export const listDelegates =
  (deps: { readonly db: Db; readonly authorize: Authorize; readonly clock: Clock }) =>
  async (
    actor: Actor,
    { connected, ...filter }: ListFilter,
    { limit, offset }: Window,
  ): Promise<Page<ListedDelegate>> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_view", { accountId });
    const since = deps.clock.now() - LOST_AFTER_MS;
    const asked = { ...filter, ...(connected === undefined ? {} : { seenSince: since, gone: !connected }) };
    const items = await selectDelegates(deps.db, accountId, asked, { limit, offset });
    return {
      items: items.map((one) => withConnected(one, since)),
      limit,
      offset,
      total: () => countDelegates(deps.db, accountId, asked),
    };
  };

export type ListDelegates = ReturnType<typeof listDelegates>;

import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import {
  countServiceAccounts,
  listServiceAccounts as selectServiceAccounts,
  type ServiceAccountFilter,
} from "../store/service-accounts.ts";
import type { ListedServiceAccount } from "./service-account.ts";
import { MAX_IN_SCOPE, permit, type ServiceAccountDeps } from "./shared.ts";

/**
 * Lists the service accounts of exactly one scope, sorted by identifier; all of them without a window. Throws what
 * RequireScope throws.
 */
export const listServiceAccounts =
  (deps: ServiceAccountDeps) =>
  async (
    actor: Actor,
    filter: ServiceAccountFilter,
    window: Window = { limit: MAX_IN_SCOPE, offset: 0 },
  ): Promise<Page<ListedServiceAccount>> => {
    await permit(deps, actor, "view", filter);
    const items = await selectServiceAccounts(deps.db, actor.accountId, { filter, window });
    return { items, ...window, total: () => countServiceAccounts(deps.db, actor.accountId, filter) };
  };

export type ListServiceAccounts = ReturnType<typeof listServiceAccounts>;

import type { Actor } from "../../core/actor.ts";
import type { Referred } from "../../core/reference.ts";
import { problem } from "../problems.ts";
import { findServiceAccount } from "../store/service-accounts.ts";
import type { ListedServiceAccount } from "./service-account.ts";
import { permit, type ServiceAccountDeps } from "./shared.ts";

/** Throws what RequireScope throws, `service_account.not_found`. */
export const getServiceAccount =
  (deps: ServiceAccountDeps) =>
  async (actor: Actor, key: Referred): Promise<ListedServiceAccount> => {
    await permit(deps, actor, "view", key);
    const found = await findServiceAccount(deps.db, actor.accountId, key);
    if (!found) throw problem("service_account.not_found", [key.identifier]);
    return found;
  };

export type GetServiceAccount = ReturnType<typeof getServiceAccount>;

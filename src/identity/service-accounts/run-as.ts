import type { Authorize, PreventEscalationTo } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { referred, scopeOf, type Place } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { findServiceAccount } from "../store/service-accounts.ts";

/**
 * Returns the id of the service account that `reference` (`account.x`, `org.x`, `x`) names, for a resource at `home`
 * that is to act as it. Requires what creating a token of it requires: `core_serviceaccount_manageapikey` on it and
 * every permission that it holds. Throws `service_account.not_found`, `access.not_permitted`, `access.beyond_own`.
 */
export const requireRunAs =
  (deps: {
    readonly db: Db;
    readonly authorize: Authorize;
    readonly preventEscalationToServiceAccount: PreventEscalationTo;
  }) =>
  async (actor: Actor, home: Place, reference: string): Promise<Uuid> => {
    const key = referred(reference, home);
    if (!key) throw problem("service_account.not_found", [reference]);
    deps.authorize(actor, "core_serviceaccount_manageapikey", scopeOf(actor.accountId, key), key.identifier);
    const found = await findServiceAccount(deps.db, actor.accountId, key);
    if (!found) throw problem("service_account.not_found", [reference]);
    await deps.preventEscalationToServiceAccount(deps.db, actor, found.id);
    return found.id;
  };

/** Called when a trigger is saved with a service account to run as. */
export type RequireRunAs = ReturnType<typeof requireRunAs>;

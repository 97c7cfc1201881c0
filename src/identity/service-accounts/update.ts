import type { Actor } from "../../core/actor.ts";
import { sameIdentifier } from "../problems.ts";
import { updateServiceAccount as updateServiceAccountRow } from "../store/service-accounts.ts";
import type { ServiceAccount, ServiceAccountFields } from "./service-account.ts";
import { accountEntry, permit, requireLockedAccount, type ServiceAccountDeps } from "./shared.ts";

/** Throws what RequireScope throws, `service_account.not_found`. */
export const updateServiceAccount =
  (deps: ServiceAccountDeps) =>
  async (actor: Actor, identifier: string, fields: ServiceAccountFields): Promise<ServiceAccount> => {
    await permit(deps, actor, "edit", fields);
    sameIdentifier(fields, identifier);
    return deps.db.transaction(async (tx) => {
      const before = await requireLockedAccount(tx, actor, fields);
      const after = { ...before, ...fields, updatedAt: deps.clock.now() };
      await updateServiceAccountRow(tx, actor.accountId, after);
      await deps.audit.record(tx, actor, accountEntry("update", { key: fields, before, after }));
      return after;
    });
  };

export type UpdateServiceAccount = ReturnType<typeof updateServiceAccount>;

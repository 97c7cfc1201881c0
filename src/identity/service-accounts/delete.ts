import type { Actor } from "../../core/actor.ts";
import type { Referred } from "../../core/reference.ts";
import { deleteServiceAccount as deleteServiceAccountRow } from "../store/service-accounts.ts";
import { accountEntry, permit, requireLockedAccount, type ServiceAccountDeps } from "./shared.ts";

/**
 * Deletes the service account with its keys and tokens, which end within a second on every replica. Throws what
 * RequireScope throws, `service_account.not_found`.
 */
export const deleteServiceAccount =
  (deps: ServiceAccountDeps) =>
  async (actor: Actor, key: Referred): Promise<void> => {
    const { accountId } = actor;
    await permit(deps, actor, "delete", key);
    await deps.db.transaction(async (tx) => {
      const former = await requireLockedAccount(tx, actor, key);
      const keys = await deleteServiceAccountRow(tx, accountId, former.id);
      const held = await deps.revokeAccess(tx, { accountId, id: former.id }, "deleted");
      const groups = await deps.dereference(tx, accountId, key, { SERVICEACCOUNT: key.identifier });
      await deps.audit.record(
        tx,
        actor,
        accountEntry("delete", { key, before: former, gone: [...held, ...keys, ...groups] }),
      );
      deps.notifyCredentialsEnded(tx);
    });
  };

export type DeleteServiceAccount = ReturnType<typeof deleteServiceAccount>;

import { saveInScope } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { problem } from "../problems.ts";
import { countServiceAccounts, insertServiceAccount, lockPlaces } from "../store/service-accounts.ts";
import { serviceAccountEmail, type ServiceAccount, type ServiceAccountFields } from "./service-account.ts";
import { MAX_IN_SCOPE, accountEntry, permit, type ServiceAccountDeps } from "./shared.ts";

/** Throws what RequireScope throws, `service_account.duplicate`, `service_account.too_many`. */
export const createServiceAccount =
  (deps: ServiceAccountDeps) =>
  async (actor: Actor, fields: ServiceAccountFields): Promise<ServiceAccount> => {
    await permit(deps, actor, "edit", fields);
    const at = deps.clock.now();
    const made = {
      ...fields,
      id: deps.newId(),
      email: serviceAccountEmail(fields.identifier),
      createdAt: at,
      updatedAt: at,
    };
    await saveInScope(deps, actor, fields, async (tx) => {
      await lockPlaces(tx, actor.accountId);
      const here = { orgIdentifier: fields.orgIdentifier, projectIdentifier: fields.projectIdentifier };
      if ((await countServiceAccounts(tx, actor.accountId, here)) >= MAX_IN_SCOPE)
        throw problem("service_account.too_many", [`${MAX_IN_SCOPE}`]);
      if (!(await insertServiceAccount(tx, actor.accountId, made)))
        throw problem("service_account.duplicate", [fields.identifier]);
      await deps.audit.record(tx, actor, accountEntry("create", { key: fields, after: made }));
    });
    return made;
  };

export type CreateServiceAccount = ReturnType<typeof createServiceAccount>;

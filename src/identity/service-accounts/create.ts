import type { Actor } from "../../core/actor.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { countServiceAccounts, insertServiceAccount, lockPlaces } from "../store/service-accounts.ts";
import { serviceAccountEmail, type ServiceAccount, type ServiceAccountFields } from "./service-account.ts";
import { MAX_IN_SCOPE, accountEntry, permit, type ServiceAccountDeps } from "./shared.ts";

/** Throws what ScopeExists throws, `service_account.duplicate`, `service_account.too_many`. */
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
    await transactionInScope(deps, actor, fields, async (tx) => {
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

/** A transaction in which a scope that was deleted meanwhile is reported as unknown. */
async function transactionInScope(
  { db, requireScope }: ServiceAccountDeps,
  actor: Actor,
  place: Place,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  try {
    await db.transaction(work);
  } catch (error) {
    if (isOrphan(error)) await requireScope(actor, place);
    throw error;
  }
}

/** Whether the cause is SQLSTATE 23503, a foreign key without its target. */
const isOrphan = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === "23503") || isOrphan(error.cause));

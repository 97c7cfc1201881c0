/** Shared by the operations on service accounts. */
import type { Authorize, Dereference, RequireScope } from "../../access/index.ts";
import type { Audit, AuditedChange } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import { scopeOf, within, type Place, type Referred } from "../../core/reference.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { shownRemovals, type RemovedReference } from "../../platform/removed-reference.ts";
import { problem } from "../problems.ts";
import { lockServiceAccount } from "../store/service-accounts.ts";
import { shownAccount, type ServiceAccount } from "./service-account.ts";

/** Removes the roles and memberships of a deleted service account. Returns what was removed. */
export type RevokeAccess = (
  tx: Tx,
  who: { readonly accountId: Uuid; readonly id: Uuid },
  how: "deactivated" | "deleted",
) => Promise<readonly RemovedReference[]>;

export type ServiceAccountDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
  readonly revokeAccess: RevokeAccess;
  readonly dereference: Dereference;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Notifies every replica after the commit that credentials have ended. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

/** Limit per scope, so that a list can show all of them. */
export const MAX_IN_SCOPE = 1_000;

/** Checks the permission, then that the scope exists. Throws `access.denied`, what RequireScope throws. */
export async function permit(
  { authorize, requireScope }: ServiceAccountDeps,
  actor: Actor,
  action: "view" | "edit" | "delete",
  place: Place,
): Promise<void> {
  authorize(actor, `core_serviceaccount_${action}`, scopeOf(actor.accountId, place));
  await requireScope(actor, place);
}

/** Locks and returns the service account before a change. Throws `service_account.not_found`. */
export async function requireLockedAccount(tx: Tx, actor: Actor, key: Referred): Promise<ServiceAccount> {
  const found = await lockServiceAccount(tx, actor.accountId, key);
  if (!found) throw problem("service_account.not_found", [key.identifier]);
  return found;
}

type Change = {
  readonly key: Referred;
  readonly before?: ServiceAccount;
  readonly after?: ServiceAccount;
  /** What was removed with a deleted one. */
  readonly gone?: readonly RemovedReference[];
};

/** The audit entry of a changed service account. */
export const accountEntry = (
  operation: "create" | "update" | "delete",
  { key, before, after, gone = [] }: Change,
): AuditedChange => ({
  operation: `service-account.${operation}`,
  resourceType: "SERVICE_ACCOUNT",
  resourceId: key.identifier,
  scope: within(key),
  before: before && { ...shownRemovals(gone), ...shownAccount(before) },
  after: after && shownAccount(after),
});

import { goneToo, type RemovedReference } from "../../platform/removed-reference.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import { scopeOf, within, type Place, type Referred } from "../../core/reference.ts";
import type { Audit } from "../../audit/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { Authorize, Dereference } from "../../access/index.ts";
import { problem, sameIdentifier } from "../problems.ts";
import {
  emailOf,
  shownAccount,
  type ListedServiceAccount,
  type ServiceAccount,
  type ServiceAccountFields,
} from "./service-account.ts";
import * as store from "../store/service-accounts.ts";

/** Throws unless the account has this organization and project. The projects slice provides it. */
export type ScopeExists = (actor: Actor, scope: Place) => Promise<void>;

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
  readonly requireScope: ScopeExists;
  readonly revokeAccess: RevokeAccess;
  readonly dereference: Dereference;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Notifies every replica after the commit that credentials have ended. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

/** Limit per scope, so that a list can show all of them. */
const MAX_IN_SCOPE = 1_000;

/**
 * Operations on service accounts. Each throws what `ScopeExists` throws, `service_account.not_found` for an unknown
 * one, and `service_account.duplicate` for a taken identifier.
 */
export type ServiceAccounts = {
  readonly create: (actor: Actor, fields: ServiceAccountFields) => Promise<ServiceAccount>;
  readonly update: (actor: Actor, identifier: string, fields: ServiceAccountFields) => Promise<ServiceAccount>;
  /** Deletes the service account with its keys and tokens, which end within a second on every replica. */
  readonly remove: (actor: Actor, key: Referred) => Promise<void>;
  readonly get: (actor: Actor, key: Referred) => Promise<ListedServiceAccount>;
  /** Lists the service accounts of exactly this scope, sorted by identifier. */
  readonly list: (
    actor: Actor,
    filter: store.ServiceAccountFilter,
    window?: Window,
  ) => Promise<Page<ListedServiceAccount>>;
};

export function createServiceAccounts(deps: ServiceAccountDeps): ServiceAccounts {
  const { db } = deps;
  const permit = (actor: Actor, action: "view" | "edit" | "delete", place: Place): Promise<void> => {
    deps.authorize(actor, `core_serviceaccount_${action}`, scopeOf(actor.accountId, place));
    return deps.requireScope(actor, place);
  };
  type Sides = {
    readonly before?: ServiceAccount;
    readonly after?: ServiceAccount;
    readonly gone?: readonly RemovedReference[];
  };
  const record = (
    tx: Tx,
    actor: Actor,
    verb: string,
    key: Referred,
    { before, after, gone = [] }: Sides,
  ): Promise<void> =>
    deps.audit.record(tx, actor, {
      operation: `service-account.${verb}`,
      resourceType: "SERVICE_ACCOUNT",
      resourceId: key.identifier,
      scope: within(key),
      before: before && { ...goneToo(gone), ...shownAccount(before) },
      after: after && shownAccount(after),
    });

  /** Locks and returns the service account before a change. */
  const hold = async (tx: Tx, actor: Actor, key: Referred): Promise<ServiceAccount> => {
    const found = await store.lockServiceAccount(tx, actor.accountId, key);
    if (!found) throw problem("service_account.not_found", [key.identifier]);
    return found;
  };

  /** Runs the work in a transaction. A scope that was deleted meanwhile is reported as unknown. */
  const inScope = async (actor: Actor, place: Place, work: (tx: Tx) => Promise<void>): Promise<void> => {
    try {
      await db.transaction(work);
    } catch (error) {
      if (isOrphan(error)) await deps.requireScope(actor, place);
      throw error;
    }
  };

  return {
    async create(actor, fields) {
      await permit(actor, "edit", fields);
      const at = deps.clock.now();
      const made = { ...fields, id: deps.newId(), email: emailOf(fields.identifier), createdAt: at, updatedAt: at };
      await inScope(actor, fields, async (tx) => {
        await store.lockPlaces(tx, actor.accountId);
        const here = { orgIdentifier: fields.orgIdentifier, projectIdentifier: fields.projectIdentifier };
        if ((await store.countServiceAccounts(tx, actor.accountId, here)) >= MAX_IN_SCOPE)
          throw problem("service_account.too_many", [`${MAX_IN_SCOPE}`]);
        if (!(await store.insertServiceAccount(tx, actor.accountId, made)))
          throw problem("service_account.duplicate", [fields.identifier]);
        await record(tx, actor, "create", fields, { after: made });
      });
      return made;
    },
    async update(actor, identifier, fields) {
      await permit(actor, "edit", fields);
      sameIdentifier(fields, identifier);
      return db.transaction(async (tx) => {
        const before = await hold(tx, actor, fields);
        const after = { ...before, ...fields, updatedAt: deps.clock.now() };
        await store.updateServiceAccount(tx, actor.accountId, after);
        await record(tx, actor, "update", fields, { before, after });
        return after;
      });
    },
    async remove(actor, key) {
      await permit(actor, "delete", key);
      await db.transaction(async (tx) => {
        const former = await hold(tx, actor, key);
        const keys = await store.deleteServiceAccount(tx, actor.accountId, former.id);
        const held = await deps.revokeAccess(tx, { accountId: actor.accountId, id: former.id }, "deleted");
        const groups = await deps.dereference(tx, actor.accountId, key, { SERVICEACCOUNT: key.identifier });
        await record(tx, actor, "delete", key, { before: former, gone: [...held, ...keys, ...groups] });
        deps.notifyCredentialsEnded(tx);
      });
    },
    async get(actor, key) {
      await permit(actor, "view", key);
      const found = await store.findServiceAccount(db, actor.accountId, key);
      if (!found) throw problem("service_account.not_found", [key.identifier]);
      return found;
    },
    async list(actor, filter, window = { limit: MAX_IN_SCOPE, offset: 0 }) {
      await permit(actor, "view", filter);
      const items = await store.listServiceAccounts(db, actor.accountId, filter, window);
      return { items, ...window, total: () => store.countServiceAccounts(db, actor.accountId, filter) };
    },
  };
}

/** Whether the cause is SQLSTATE 23503, a foreign key without its target. */
const isOrphan = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === "23503") || isOrphan(error.cause));

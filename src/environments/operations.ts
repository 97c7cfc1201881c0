import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Page, Window } from "../core/page.ts";
import { commonProblem } from "../core/problems.ts";
import { scopeOf, within, type Place, type Referred } from "../core/reference.ts";
import type { Audit } from "../audit/index.ts";
import { listed, type Authorize, type LeaveGroups, type Permits } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { goneToo, type RemovedReference } from "../platform/removed-reference.ts";
import type { RequireScope } from "../projects/index.ts";
import type { Entity, Fields, Kind } from "./entity.ts";
import { problem } from "./problems.ts";
import * as store from "./store.ts";

export type EntityDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly permits: Permits;
  readonly leaveGroups: LeaveGroups;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
  readonly newId: NewId;
};

/**
 * What can be done to environments, and to services just the same. The scope stands in the entity; each verb
 * throws what RequireScope throws. `version` is the one that the caller has read: another one is
 * `core.stale_version`. What is not there is `<noun>.not_found`, an identifier that is taken `<noun>.duplicate`.
 */
export type Entities<T extends Entity> = {
  readonly create: (actor: Actor, fields: Fields<T>) => Promise<T>;
  readonly update: (actor: Actor, fields: Fields<T>, version: number | undefined) => Promise<T>;
  /** Creates it where there is none. A version can only be asked of what is there. */
  readonly upsert: (actor: Actor, fields: Fields<T>, version: number | undefined) => Promise<T>;
  readonly get: (actor: Actor, key: Referred) => Promise<T>;
  /** Those of exactly this scope, by identifier. `searchTerm` is a part of the name or the identifier, in any case. */
  readonly list: (actor: Actor, filter: Omit<store.EntityFilter, "shown">, window: Window) => Promise<Page<T>>;
  readonly remove: (actor: Actor, key: Referred, version: number | undefined) => Promise<void>;
};

export function createEntities<T extends Entity>(deps: EntityDeps, kind: Kind): Entities<T> {
  const { db } = deps;
  const permit = (actor: Actor, action: "view" | "edit" | "delete", key: Referred): Promise<void> => {
    const scope = scopeOf(actor.accountId, key);
    deps.authorize(actor, `core_${kind.noun}_${action}`, scope, key.identifier);
    return deps.requireScope(actor, key);
  };
  const record = (
    tx: Tx,
    actor: Actor,
    verb: string,
    key: Referred,
    { before, after, gone = [] }: Sides<T>,
  ): Promise<void> =>
    deps.audit.record(tx, actor, {
      operation: `${kind.noun}.${verb}`,
      resourceType: kind.type,
      resourceId: key.identifier,
      scope: within(key),
      before: before && { ...goneToo(gone), ...shown(kind, before) },
      after: after && shown(kind, after),
    });
  /** As it is before it is changed, and stays until the transaction ends. */
  const hold = (tx: Tx, actor: Actor, key: Referred): Promise<T | undefined> =>
    store.findEntity<T>(tx, kind, actor.accountId, key, "hold");
  const made = (fields: Fields<T>): T => {
    const at = deps.clock.now();
    return { ...fields, id: deps.newId(), version: 1, createdAt: at, updatedAt: at } as unknown as T;
  };
  /** Why a statement that names the version has touched nothing. */
  const refusal = async (tx: Tx, actor: Actor, key: Referred, version: number | undefined): Promise<Error> => {
    const there = await store.findEntity<T>(tx, kind, actor.accountId, key);
    if (!there) return problem(`${kind.noun}.not_found`, [key.identifier]);
    return commonProblem("core.stale_version", [kind.title, key.identifier, `${there.version}`, `${version}`]);
  };

  /** A scope that was deleted since it was looked at is a scope that does not exist. */
  const saved = async <R>(actor: Actor, scope: Place, work: (tx: Tx) => Promise<R>): Promise<R> => {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (isOrphan(error)) await deps.requireScope(actor, scope);
      throw error;
    }
  };

  const update = async (tx: Tx, actor: Actor, fields: Fields<T>, version: number | undefined): Promise<T> => {
    const before = await hold(tx, actor, fields);
    const updated = await store.updateEntity(tx, kind, actor.accountId, made(fields), version);
    if (!updated) throw await refusal(tx, actor, fields, version);
    await record(tx, actor, "update", fields, { before, after: updated });
    return updated;
  };

  return {
    async create(actor, fields) {
      await permit(actor, "edit", fields);
      const entity = made(fields);
      await saved(actor, fields, async (tx) => {
        if (!(await store.insertEntity(tx, kind, actor.accountId, entity)))
          throw problem(`${kind.noun}.duplicate`, [fields.identifier]);
        await record(tx, actor, "create", fields, { after: entity });
      });
      return entity;
    },
    async update(actor, fields, version) {
      await permit(actor, "edit", fields);
      return db.transaction((tx) => update(tx, actor, fields, version));
    },
    async upsert(actor, fields, version) {
      await permit(actor, "edit", fields);
      return saved(actor, fields, async (tx) => {
        if (version !== undefined) return update(tx, actor, fields, version);
        const before = await hold(tx, actor, fields);
        const entity = await store.upsertEntity(tx, kind, actor.accountId, made(fields));
        await record(tx, actor, entity.version === 1 ? "create" : "update", fields, { before, after: entity });
        return entity;
      });
    },
    async get(actor, key) {
      await permit(actor, "view", key);
      const entity = await store.findEntity<T>(db, kind, actor.accountId, key);
      if (!entity) throw problem(`${kind.noun}.not_found`, [key.identifier]);
      return entity;
    },
    async list(actor, given, window) {
      const scope = scopeOf(actor.accountId, given);
      const filter = { ...given, shown: listed(actor, `core_${kind.noun}_view`, scope) };
      await deps.requireScope(actor, given);
      const items = await store.listEntities<T>(db, kind, actor.accountId, filter, window);
      return { items, ...window, total: () => store.countEntities(db, kind, actor.accountId, filter) };
    },
    async remove(actor, key, version) {
      await permit(actor, "delete", key);
      await db.transaction(async (tx) => {
        const before = await hold(tx, actor, key);
        if (!(await store.deleteEntity(tx, kind, actor.accountId, key, version)))
          throw await refusal(tx, actor, key, version);
        const groups = await deps.leaveGroups(tx, actor.accountId, key, { [kind.type]: key.identifier });
        await record(tx, actor, "delete", key, { before, gone: groups });
      });
    },
  };
}

type Sides<T> = {
  readonly before?: T | undefined;
  readonly after?: T | undefined;
  readonly gone?: readonly RemovedReference[];
};

/** For the audit trail. */
const shown = ({ own }: Kind, entity: Entity) => ({
  name: entity.name,
  ...Object.fromEntries(own.map((field) => [field, (entity as unknown as Record<string, unknown>)[field]])),
  description: entity.description,
  tags: entity.tags,
  yaml: entity.yaml,
});

/** The SQLSTATE of a foreign key that leads nowhere, which the database's own problem keeps as its cause. */
const isOrphan = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === "23503") || isOrphan(error.cause));

import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Page, Window } from "../core/page.ts";
import { commonProblem } from "../core/problems.ts";
import { scopeOf, within, type Place, type Referred } from "../core/reference.ts";
import type { Audit } from "../audit/index.ts";
import { listed, type Authorize, type Dereference } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { goneToo, type RemovedReference } from "../platform/removed-reference.ts";
import type { RequireScope } from "../projects/index.ts";
import type { Entity, Fields, Kind } from "./entity.ts";
import { problem } from "./problems.ts";
import * as store from "./store/entities.ts";

export type EntityDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly dereference: Dereference;
  readonly requireScope: RequireScope;
  readonly clock: Clock;
  readonly newId: NewId;
};

/**
 * The operations of environments and services. The entity names its scope; each operation throws what RequireScope
 * throws. `version` is the version that the caller has read; another one gives `core.stale_version`. A missing entity
 * gives `<noun>.not_found`, a taken identifier `<noun>.duplicate`.
 */
export type Entities<T extends Entity> = {
  readonly create: (actor: Actor, fields: Fields<T>) => Promise<T>;
  readonly update: (actor: Actor, fields: Fields<T>, version: number | undefined) => Promise<T>;
  /** Creates or replaces the entity. With a version, the entity must exist. */
  readonly upsert: (actor: Actor, fields: Fields<T>, version: number | undefined) => Promise<T>;
  readonly get: (actor: Actor, key: Referred) => Promise<T>;
  /** Lists the entities of exactly this scope. `searchTerm` is a part of name or identifier, case-insensitive. */
  readonly list: (actor: Actor, filter: Omit<store.EntityFilter, "shown">, window: Window) => Promise<Page<T>>;
  readonly remove: (actor: Actor, key: Referred, version: number | undefined) => Promise<void>;
};

/** Builds the operations of one kind. */
export function createEntities<T extends Entity>(deps: EntityDeps, kind: Kind): Entities<T> {
  const { db } = deps;
  const requirePermission = (actor: Actor, action: "view" | "edit" | "delete", key: Referred): Promise<void> => {
    const scope = scopeOf(actor.accountId, key);
    deps.authorize(actor, `core_${kind.noun}_${action}`, scope, key.identifier);
    return deps.requireScope(actor, key);
  };
  const record = (
    tx: Tx,
    actor: Actor,
    operation: string,
    key: Referred,
    { before, after, removed = [] }: RecordedChange<T>,
  ): Promise<void> =>
    deps.audit.record(tx, actor, {
      operation: `${kind.noun}.${operation}`,
      resourceType: kind.type,
      resourceId: key.identifier,
      scope: within(key),
      before: before && { ...goneToo(removed), ...shownEntity(kind, before) },
      after: after && shownEntity(kind, after),
    });
  /** Locks the entity until the end of the transaction, and returns it as it is before the change. */
  const lockEntity = (tx: Tx, actor: Actor, key: Referred): Promise<T | undefined> =>
    store.findEntity<T>(tx, kind, actor.accountId, key, "lock");
  const newEntity = (fields: Fields<T>): T => {
    const at = deps.clock.now();
    return { ...fields, id: deps.newId(), version: 1, createdAt: at, updatedAt: at } as unknown as T;
  };
  /** Returns the problem of a statement that changed no row. */
  const explainMissedRow = async (tx: Tx, actor: Actor, key: Referred, version: number | undefined): Promise<Error> => {
    const there = await store.findEntity<T>(tx, kind, actor.accountId, key);
    if (!there) return problem(`${kind.noun}.not_found`, [key.identifier]);
    return commonProblem("core.stale_version", [kind.title, key.identifier, `${there.version}`, `${version}`]);
  };

  /** Reports a scope that was deleted after `requirePermission` as missing. */
  const saveInScope = async <R>(actor: Actor, scope: Place, work: (tx: Tx) => Promise<R>): Promise<R> => {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (isForeignKeyViolation(error)) await deps.requireScope(actor, scope);
      throw error;
    }
  };

  const update = async (tx: Tx, actor: Actor, fields: Fields<T>, version: number | undefined): Promise<T> => {
    const before = await lockEntity(tx, actor, fields);
    const updated = await store.updateEntity(tx, kind, actor.accountId, newEntity(fields), version);
    if (!updated) throw await explainMissedRow(tx, actor, fields, version);
    await record(tx, actor, "update", fields, { before, after: updated });
    return updated;
  };

  return {
    async create(actor, fields) {
      await requirePermission(actor, "edit", fields);
      const entity = newEntity(fields);
      await saveInScope(actor, fields, async (tx) => {
        if (!(await store.insertEntity(tx, kind, actor.accountId, entity)))
          throw problem(`${kind.noun}.duplicate`, [fields.identifier]);
        await record(tx, actor, "create", fields, { after: entity });
      });
      return entity;
    },
    async update(actor, fields, version) {
      await requirePermission(actor, "edit", fields);
      return db.transaction((tx) => update(tx, actor, fields, version));
    },
    async upsert(actor, fields, version) {
      await requirePermission(actor, "edit", fields);
      return saveInScope(actor, fields, async (tx) => {
        if (version !== undefined) return update(tx, actor, fields, version);
        const before = await lockEntity(tx, actor, fields);
        const entity = await store.upsertEntity(tx, kind, actor.accountId, newEntity(fields));
        await record(tx, actor, entity.version === 1 ? "create" : "update", fields, { before, after: entity });
        return entity;
      });
    },
    async get(actor, key) {
      await requirePermission(actor, "view", key);
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
      await requirePermission(actor, "delete", key);
      await db.transaction(async (tx) => {
        const before = await lockEntity(tx, actor, key);
        if (!(await store.deleteEntity(tx, kind, actor.accountId, key, version)))
          throw await explainMissedRow(tx, actor, key, version);
        const groups = await deps.dereference(tx, actor.accountId, key, { [kind.type]: key.identifier });
        await record(tx, actor, "delete", key, { before, removed: groups });
      });
    },
  };
}

type RecordedChange<T> = {
  readonly before?: T | undefined;
  readonly after?: T | undefined;
  readonly removed?: readonly RemovedReference[];
};

/** The entity for the audit trail. */
const shownEntity = ({ own }: Kind, entity: Entity) => ({
  name: entity.name,
  ...Object.fromEntries(own.map((field) => [field, (entity as unknown as Record<string, unknown>)[field]])),
  description: entity.description,
  tags: entity.tags,
  yaml: entity.yaml,
});

/** Recognizes the SQLSTATE of a violated foreign key, also in the cause of a database problem. */
const isForeignKeyViolation = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === "23503") || isForeignKeyViolation(error.cause));

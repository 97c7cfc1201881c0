import type { Actor } from "../../core/actor.ts";
import { within, type Referred } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { goneToo, type RemovedReference } from "../../platform/removed-reference.ts";
import type { Entity, Kind } from "../entity.ts";
import type { EntityDeps } from "./deps.ts";

type EntityChange = {
  readonly operation: "create" | "update" | "delete";
  readonly key: Referred;
  readonly before?: Entity | undefined;
  readonly after?: Entity | undefined;
  readonly removed?: readonly RemovedReference[];
};

/** Appends an entry for a changed entity. */
export const recordEntity = (
  tx: Tx,
  { audit }: Pick<EntityDeps, "audit">,
  kind: Kind,
  actor: Actor,
  { operation, key, before, after, removed = [] }: EntityChange,
): Promise<void> =>
  audit.record(tx, actor, {
    operation: `${kind.noun}.${operation}`,
    resourceType: kind.type,
    resourceId: key.identifier,
    scope: within(key),
    before: before && { ...goneToo(removed), ...shownEntity(kind, before) },
    after: after && shownEntity(kind, after),
  });

/** The entity for the audit trail. */
const shownEntity = ({ own }: Kind, entity: Entity) => ({
  name: entity.name,
  ...Object.fromEntries(own.map((field) => [field, (entity as unknown as Record<string, unknown>)[field]])),
  description: entity.description,
  tags: entity.tags,
  yaml: entity.yaml,
});

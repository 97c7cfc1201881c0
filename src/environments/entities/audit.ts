import type { AuditedChange } from "../../audit/index.ts";
import { within, type Referred } from "../../core/reference.ts";
import { shownRemovals, type RemovedReference } from "../../platform/removed-reference.ts";
import type { Entity, Kind } from "../entity.ts";

type EntityChange = {
  readonly key: Referred;
  readonly before?: Entity | undefined;
  readonly after?: Entity | undefined;
  readonly removed?: readonly RemovedReference[];
};

/** The audit entry of a changed entity. */
export const entityEntry = (
  kind: Kind,
  operation: "create" | "update" | "delete",
  { key, before, after, removed = [] }: EntityChange,
): AuditedChange => ({
  operation: `${kind.noun}.${operation}`,
  resourceType: kind.type,
  resourceId: key.identifier,
  scope: within(key),
  before: before && { ...shownRemovals(removed), ...shownEntity(kind, before) },
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

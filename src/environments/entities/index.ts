/** Environments and services have the same operations. `Kind` says which of them an operation works on. */
import type { Entity, Kind } from "../entity.ts";
import { createEntity } from "./create.ts";
import { deleteEntity } from "./delete.ts";
import type { EntityDeps } from "./deps.ts";
import { getEntity } from "./get.ts";
import { listEntities } from "./list.ts";
import { updateEntity } from "./update.ts";
import { upsertEntity } from "./upsert.ts";

export const createEntities = <T extends Entity>(deps: EntityDeps, kind: Kind) => ({
  create: createEntity<T>(deps, kind),
  update: updateEntity<T>(deps, kind),
  upsert: upsertEntity<T>(deps, kind),
  delete: deleteEntity(deps, kind),
  get: getEntity<T>(deps, kind),
  list: listEntities<T>(deps, kind),
});

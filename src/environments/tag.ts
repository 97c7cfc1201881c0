import type { Actor } from "../core/actor.ts";
import { fromWire, toWire } from "../core/ids.ts";
import { scopeOf } from "../core/reference.ts";
import { refusalOf } from "../access/index.ts";
import { changedTags, withTags, type TagChange } from "../platform/document/tags.ts";
import type { Db } from "../platform/db/db.ts";
import type { Entity, Fields, Kind } from "./entity.ts";
import { problem } from "./problems.ts";
import { findEntityById } from "./store/entities.ts";
import type { UpdateEntity } from "./entities/update.ts";

/**
 * Changes one tag of an environment or a service, also in its document. Returns the id of its application; null if it
 * belongs to an organization or to the account. Throws `<noun>.no_such_id`, also for one that the actor may not see,
 * and what `updateEntity` throws.
 */
export const tagEntity =
  <T extends Entity>(deps: { readonly db: Db; readonly updateEntity: UpdateEntity<T> }, kind: Kind) =>
  async (actor: Actor, id: string, to: TagChange): Promise<string | null> => {
    const uuid = fromWire(id);
    const found = uuid && (await findEntityById(deps.db, actor.accountId, { kind, id: uuid }));
    const refusal =
      found &&
      refusalOf(actor, `core_${kind.noun}_view`, scopeOf(actor.accountId, found.entity), found.entity.identifier);
    if (!found || refusal) throw problem(`${kind.noun}.no_such_id`, [id], { refusal });
    const { entity, projectId } = found;
    const tags = changedTags(entity.tags, to);
    const fields = { ...entity, tags, yaml: withTags(entity.yaml, kind.noun, tags) } as unknown as Fields<T>;
    await deps.updateEntity(actor, fields, entity.version);
    return projectId && toWire(projectId);
  };

import type { Actor } from "../../core/actor.ts";
import type { Referred } from "../../core/reference.ts";
import type { Kind } from "../entity.ts";
import { deleteEntityRow, findEntity } from "../store/entities.ts";
import { recordEntity } from "./audit.ts";
import type { EntityDeps } from "./deps.ts";
import { explainMissedRow } from "./missed-row.ts";
import { requirePermission } from "./permission.ts";

/** Deletes an entity. Throws what RequireScope throws, `<noun>.not_found`, `core.stale_version`. */
export const deleteEntity =
  (deps: Omit<EntityDeps, "clock" | "newId">, kind: Kind) =>
  async (actor: Actor, key: Referred, version: number | undefined): Promise<void> => {
    await requirePermission(deps, kind, actor, "delete", key);
    await deps.db.transaction(async (tx) => {
      const before = await findEntity(tx, kind, actor.accountId, key, "lock");
      if (!(await deleteEntityRow(tx, kind, actor.accountId, key, version)))
        throw await explainMissedRow(tx, kind, actor, key, version);
      const groups = await deps.dereference(tx, actor.accountId, key, { [kind.type]: key.identifier });
      await recordEntity(tx, deps, kind, actor, { operation: "delete", key, before, removed: groups });
    });
  };

export type DeleteEntity = ReturnType<typeof deleteEntity>;

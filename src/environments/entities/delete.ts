import type { Actor } from "../../core/actor.ts";
import type { Referred } from "../../core/reference.ts";
import type { Kind } from "../entity.ts";
import { deleteEntityRow, findEntity } from "../store/entities.ts";
import { entityEntry } from "./audit.ts";
import type { EntityDeps } from "./deps.ts";
import { explainMissedRow } from "./missed-row.ts";
import { requirePermission } from "./permission.ts";

/** Deletes an entity. Throws what RequireScope throws, `<noun>.not_found`, `core.stale_version`. */
export const deleteEntity =
  (deps: Omit<EntityDeps, "clock" | "newId">, kind: Kind) =>
  async (actor: Actor, key: Referred, version: number | undefined): Promise<void> => {
    await requirePermission(deps, actor, { kind, action: "delete", key });
    await deps.db.transaction(async (tx) => {
      const before = await findEntity(tx, actor.accountId, { kind, key, lock: "for no key update" });
      if (!(await deleteEntityRow(tx, actor.accountId, { kind, key, version })))
        throw await explainMissedRow(tx, actor.accountId, { kind, key, version });
      const groups = await deps.dereference(tx, actor.accountId, key, { [kind.type]: key.identifier });
      await deps.audit.record(tx, actor, entityEntry(kind, "delete", { key, before, removed: groups }));
    });
  };

export type DeleteEntity = ReturnType<typeof deleteEntity>;

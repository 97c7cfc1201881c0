import { actorId, type Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import type { AuditedChange } from "./entry.ts";

type Entry = AuditedChange & { readonly id: Uuid; readonly at: number; readonly actor: Actor };

export async function insertEntry(tx: Tx, entry: Entry): Promise<void> {
  const { actor } = entry;
  await tx.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_id, actor_name, operation, resource_type,
                                resource_id, org_identifier, project_identifier)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      actor.accountId,
      entry.id,
      entry.at,
      actor.kind,
      actorId(actor),
      actor.kind === "system" ? "system" : actor.name,
      entry.operation,
      entry.resourceType,
      entry.resourceId,
      entry.scope.orgIdentifier ?? null,
      entry.scope.projectIdentifier ?? null,
    ],
  );
}

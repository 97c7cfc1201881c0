/** Recorded references between resources. Other slices store the resources and define their scopes. */
import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import { scopeValues } from "../../platform/db/removed-rows.ts";
import type { DeletedScope } from "../../platform/removed-reference.ts";
import type { ReferenceSource, ReferencingResource } from "../references/describe-referencing.ts";
import { columnsOf } from "./named.ts";

/** Tables of references, one for each kind of referenced resource. */
export type ReferenceTable = "connector_uses" | "environment_uses" | "secret_uses" | "service_uses";

type SourceReferences = {
  readonly uses: ReferenceTable;
  readonly user: ReferenceSource;
  readonly keys: readonly Referred[];
};

/** Replaces the references of a user of resources. */
export async function replaceReferences(
  tx: Tx,
  accountId: Uuid,
  { uses, user, keys }: SourceReferences,
): Promise<void> {
  await tx.query(`delete from ${uses} where account_id = $1 and user_type = $2 and user_id = $3`, [
    accountId,
    user.type,
    user.id,
  ]);
  if (keys.length === 0) return;
  await tx.query(
    `insert into ${uses} (account_id, user_type, user_id, user_org_identifier, user_project_identifier,
                          user_identifier, org_identifier, project_identifier, identifier)
     select distinct $1::uuid, $2, $3::uuid, $4, $5, $6, org, project, identifier
       from unnest($7::text[], $8::text[], $9::text[]) as k (org, project, identifier)`,
    [accountId, user.type, user.id, user.orgIdentifier, user.projectIdentifier, user.identifier, ...columnsOf(keys)],
  );
}

/** The resources that reference this one. */
export const findReferencing = (
  db: Store,
  accountId: Uuid,
  { uses, key }: { readonly uses: ReferenceTable; readonly key: Referred },
): Promise<readonly ReferencingResource[]> =>
  db.query<ReferencingResource>(
    `select user_type as type, user_org_identifier as "orgIdentifier", user_project_identifier as "projectIdentifier",
            user_identifier as identifier
       from ${uses}
      where account_id = $1 and identifier = $2 and org_identifier is not distinct from $3
        and project_identifier is not distinct from $4
      order by user_type, user_id`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );

/** Deletes the references from resources of the scope itself. */
export async function deleteReferenceRows(tx: Tx, uses: ReferenceTable, scope: DeletedScope): Promise<void> {
  await tx.query(
    `delete from ${uses} where account_id = $1 and user_org_identifier = $2
        and user_project_identifier is not distinct from $3`,
    scopeValues(scope),
  );
}

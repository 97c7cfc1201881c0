import type { Gone } from "../../platform/gone.ts";
import { gone } from "../../platform/db/gone.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";

type Store = { readonly query: Query };

/** All connectors of a project, or of an organization itself. */
export async function deleteConnectorsOf(
  db: Store,
  accountId: Uuid,
  orgIdentifier: string,
  projectIdentifier: string | null,
): Promise<readonly Gone[]> {
  return gone(
    db,
    "CONNECTOR",
    `delete from connectors where account_id = $1 and org_identifier = $2 and project_identifier is not distinct from $3
     returning identifier as what`,
    [accountId, orgIdentifier, projectIdentifier],
  );
}

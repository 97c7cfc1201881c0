import type { Uuid } from "../../core/ids.ts";
import type { Project } from "../project.ts";
import type { Store } from "../../platform/db/db.ts";

/** The applications of the account with these ids. Missing ones are left out. */
export async function selectApplicationsById(
  db: Store,
  accountId: Uuid,
  ids: readonly Uuid[],
): Promise<readonly Pick<Project, "id" | "orgIdentifier" | "identifier">[]> {
  return db.query<Pick<Project, "id" | "orgIdentifier" | "identifier">>(
    `select id, org_identifier as "orgIdentifier", identifier from projects
      where account_id = $1 and id = any ($2::uuid[])`,
    [accountId, ids],
  );
}

import type { Uuid } from "../../core/ids.ts";
import type { Principal } from "../../pipelines/index.ts";
import type { Query } from "../../platform/db/db.ts";

/** What decides whether a step of an execution gets secrets. */
export type DeliveryFacts = {
  readonly principals: readonly Principal[];
  /** Of the node; null in an execution of format 1, where it is the node itself. */
  readonly definition: string | null;
  readonly pipelineIdentifier: string;
  readonly isPipelineDeleted: boolean;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
};

export async function findDeliveryFacts(
  db: { readonly query: Query },
  accountId: Uuid,
  id: Uuid,
  node: Uuid,
): Promise<DeliveryFacts | undefined> {
  const rows = await db.query<DeliveryFacts>(
    `select e.principals, n.definition_id as definition, p.identifier as "pipelineIdentifier", p.deleted_at is not null as "isPipelineDeleted",
            a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier"
       from executions e
       left join execution_nodes n on n.account_id = e.account_id and n.execution_id = e.id and n.id = $3
       join pipelines p on p.account_id = e.account_id and p.id = e.pipeline_id
       join projects a on a.account_id = e.account_id and a.id = e.project_id
      where e.account_id = $1 and e.id = $2`,
    [accountId, id, node],
  );
  return rows[0];
}

/** What lists show of newest versions beside the columns of their pipelines. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import type { InProject, Shown } from "../pipeline.ts";

type Store = { readonly query: Query };

export async function findNewest(
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
): Promise<{ readonly version: number; readonly yaml: string } | undefined> {
  const rows = await db.query<{ version: number; yaml: string }>(
    `select v.version, v.yaml from pipelines p
       join pipeline_versions v on v.account_id = p.account_id and v.pipeline_id = p.id and v.version = p.version
      where p.account_id = $1 and p.id = $2`,
    [accountId, pipelineId],
  );
  return rows[0];
}

/** Stores what is missing; the names of the stages only while the version is the newest one. */
export const saveShown = (
  db: Store,
  accountId: Uuid,
  { pipelineId, version }: { readonly pipelineId: Uuid; readonly version: number },
  { stageNames, variables }: Shown,
): Promise<unknown> =>
  db.query(
    `with of_version as (
       update pipeline_versions set variables = $4
        where account_id = $1 and pipeline_id = $2 and version = $3 and variables is null)
     update pipelines set stage_names = $5
      where account_id = $1 and id = $2 and version = $3 and stage_names is null`,
    [accountId, pipelineId, version, variables, stageNames],
  );

/** `bytes` are those of the variables as JSON; null where they are not stored yet. */
export type VariablesSize = InProject & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly bytes: number | null;
};

/** Of the newest versions of these pipelines, deleted ones included. It reads no text: the length of one is stored beside it. */
export const listVariablesSizes = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<VariablesSize[]> =>
  db.query<VariablesSize>(
    `select p.id, p.identifier, a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier",
            octet_length(v.variables) as bytes
       from pipelines p
       join projects a on a.account_id = p.account_id and a.id = p.project_id
       join pipeline_versions v on v.account_id = p.account_id and v.pipeline_id = p.id and v.version = p.version
      where p.account_id = $1 and p.id = any ($2)`,
    [accountId, ids],
  );

/** Those that are stored. */
export const listVariables = (
  db: Store,
  accountId: Uuid,
  ids: readonly Uuid[],
): Promise<{ readonly id: Uuid; readonly variables: string }[]> =>
  db.query(
    `select p.id, v.variables from pipelines p
       join pipeline_versions v on v.account_id = p.account_id and v.pipeline_id = p.id and v.version = p.version
      where p.account_id = $1 and p.id = any ($2) and v.variables is not null`,
    [accountId, ids],
  );

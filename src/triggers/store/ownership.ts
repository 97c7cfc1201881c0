/** Resources that triggers run for a user or a service account: triggers, newest versions of pipelines, input sets. */
import { within } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Author } from "../../identity/index.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Trigger } from "../trigger.ts";

export type OwnedRow = {
  readonly type: "TRIGGER" | "PIPELINE" | "INPUT_SET";
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly pipelineIdentifier: string;
  readonly identifier: string;
  readonly name: string;
  readonly version: number;
};

const OF_AUTHOR = (row: string): string => `${row}.author_kind = $2 and ${row}.author_id = $3`;
const TRIGGERED =
  "exists (select from triggers u where u.account_id = p.account_id and u.pipeline_id = p.id and u.deleted_at is null)";

const OWNED = `(
  select 'TRIGGER' as type, t.account_id, t.pipeline_id, t.identifier, t.name, t.version from triggers t
   where t.account_id = $1 and t.deleted_at is null
     and (($2 = 'service_account' and t.run_as = $3) or (t.run_as is null and ${OF_AUTHOR("t")}))
  union all
  select 'PIPELINE', p.account_id, p.id, p.identifier, p.name, p.version from pipeline_versions v
    join pipelines p on p.account_id = v.account_id and p.id = v.pipeline_id and p.version = v.version
   where v.account_id = $1 and ${OF_AUTHOR("v")} and ${TRIGGERED}
  union all
  select 'INPUT_SET', s.account_id, s.pipeline_id, s.identifier, s.name, s.version from input_sets s
    join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id
   where s.account_id = $1 and ${OF_AUTHOR("s")} and ${TRIGGERED}
 ) o
  join pipelines p on p.account_id = o.account_id and p.id = o.pipeline_id and p.deleted_at is null
  join projects a on a.account_id = p.account_id and a.id = p.project_id`;

const VISIBLE = `($4::text is null or ${within("$4", {
  ...{ org: "a.org_identifier", project: "a.identifier", identifier: "p.identifier" },
})})`;

/** `seen` is the result of `reach` as JSON; null for all. */
export type OwnedFilter = { readonly accountId: Uuid; readonly author: Author; readonly seen: string | null };

/** Lists by place, pipeline, type and identifier. */
export const selectOwned = (
  db: Store,
  { accountId, author, seen }: OwnedFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<OwnedRow[]> =>
  db.query<OwnedRow>(
    `select o.type, a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier",
            p.identifier as "pipelineIdentifier", o.identifier, o.name, o.version
       from ${OWNED} where ${VISIBLE}
      order by a.org_identifier, a.identifier, p.identifier, o.type desc, o.identifier limit $5 offset $6`,
    [accountId, author.kind, author.id, seen, limit, offset],
  );

export async function countOwned(
  db: Store,
  { accountId, author, seen }: OwnedFilter,
): Promise<{ readonly visible: number; readonly all: number }> {
  const rows = await db.query<{ visible: number; all: number }>(
    `select count(*) filter (where ${VISIBLE}) as visible, count(*) as all from ${OWNED}`,
    [accountId, author.kind, author.id, seen],
  );
  return rows[0] ?? { visible: 0, all: 0 };
}

/** Returns the new version; undefined if the trigger has another version or was deleted. */
export async function setTriggerAuthor(
  db: Store,
  trigger: Pick<Trigger, "accountId" | "id" | "version">,
  to: { readonly author: Author; readonly runAs: Uuid | null; readonly at: number },
): Promise<number | undefined> {
  const rows = await db.query<{ version: number }>(
    `update triggers set author_kind = $4, author_id = $5, run_as = $6, updated_at = $7, version = version + 1
      where account_id = $1 and id = $2 and version = $3 and deleted_at is null returning version`,
    [trigger.accountId, trigger.id, trigger.version, to.author.kind, to.author.id, to.runAs, to.at],
  );
  return rows[0]?.version;
}

import type { LeaveAuthors } from "../../access/index.ts";
import { within } from "../../core/reference.ts";
import { gone } from "../../platform/db/gone.ts";

/** A table with a column `authority`, as `k`. */
export type KeptIn = {
  /** For the trail. */
  readonly type: string;
  readonly table: string;
  /** Its column that tells apart the rows of an account which are `live`. */
  readonly id: string;
  readonly live: string;
  /** What the author has saved. */
  readonly what: string;
};

/** Whether the grant `g` names the thing: single things are named in their own scope only. */
const NAMES = `g -> 'scope' = $2::jsonb
  and g @> jsonb_build_object('resources', jsonb_build_object($3::text, jsonb_build_array($4::text)))`;

/**
 * A list of names that gets empty stays, as an empty list, which is none of the type. Rows are locked by id: of two deletions that
 * concern the same ones, one waits and both are done.
 */
export const leaveAuthorsIn =
  ({ type, table, id, live, what }: KeptIn): LeaveAuthors =>
  (tx, accountId, thing) =>
    gone(
      tx,
      type,
      `with naming as (
         select k.${id} as id from ${table} k
          where k.account_id = $1 and ${live} and exists (select from jsonb_array_elements(k.authority) g where ${NAMES})
          order by k.${id} for no key update of k)
       update ${table} k
          set authority = (
                select jsonb_agg(case when ${NAMES}
                                      then jsonb_set(g, array['resources', $3], (g -> 'resources' -> $3) - $4) else g end
                         order by nth)
                  from jsonb_array_elements(k.authority) with ordinality as each (g, nth))
         from naming where k.account_id = $1 and k.${id} = naming.id and ${live}
       returning ${what} as what`,
      [accountId, JSON.stringify(within(thing)), thing.type, thing.identifier],
    );

const NEWEST = `exists (
  select from pipelines p
   where p.account_id = k.account_id and p.id = k.pipeline_id and p.version = k.version and p.deleted_at is null)`;

/** Of both kinds: an overlay has an author as well. */
export const leaveInputSets = leaveAuthorsIn({
  ...{ type: "INPUT_SET_AUTHORITY", table: "input_sets", id: "id", live: "true", what: "k.identifier" },
});

/** No trigger runs a former version, and none a deleted pipeline. */
export const leavePipelines = leaveAuthorsIn({
  ...{ type: "PIPELINE_AUTHORITY", table: "pipeline_versions", id: "pipeline_id", live: NEWEST },
  what: "(select p.identifier from pipelines p where p.account_id = k.account_id and p.id = k.pipeline_id)",
});

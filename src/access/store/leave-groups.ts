import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Query } from "../../platform/db/db.ts";
import { gone } from "../../platform/db/gone.ts";
import type { RemovedReference, Leaving } from "../../platform/removed-reference.ts";
import type { ResourceType } from "../../core/grants.ts";

type Store = { readonly query: Query };

/** By their types, what resource groups name things by: `{ SECRET: ["a", "b"] }`. */
export type Named = Readonly<Record<ResourceType, readonly string[]>>;

/** The names of the type of the entry `r`. */
const GONE_OF_TYPE = `array(select jsonb_array_elements_text($4::jsonb -> (r ->> 'type')))`;

/**
 * Takes the names out of the groups of that very place, since single things are named nowhere else, and the scope, if it goes, out
 * of those that include it. Answers which groups it were. A list of names that gets empty stays, as an empty list: without it,
 * all of the type would be named. Groups are locked by id, as whoever assigns over several locks them.
 */
export const takeOutOfGroups = (
  db: Store,
  accountId: Uuid,
  { orgIdentifier, projectIdentifier }: Place,
  names: Named,
  scope?: Leaving,
): Promise<readonly RemovedReference[]> =>
  gone(
    db,
    "RESOURCE_GROUP_ENTRY",
    `with naming as (
       select id from resource_groups
        where account_id = $1
          and (org_identifier is not distinct from $2 and project_identifier is not distinct from $3
               and exists (select from jsonb_array_elements(resources) r
                            where r -> 'identifiers' ?| ${GONE_OF_TYPE})
               or $5::text is not null
               and included_scopes @> jsonb_build_array(jsonb_build_object('org', $5::text, 'project', $6::text)))
        order by id for no key update)
     update resource_groups g
        set resources = (
              select coalesce(jsonb_agg(
                       case when jsonb_typeof(r -> 'identifiers') = 'array' and g.org_identifier is not distinct from $2
                                 and g.project_identifier is not distinct from $3
                            then jsonb_set(r, '{identifiers}', (r -> 'identifiers') - ${GONE_OF_TYPE}) else r end
                       order by nth), '[]')
                from jsonb_array_elements(g.resources) with ordinality as each (r, nth)),
            included_scopes = (
              select coalesce(jsonb_agg(s order by nth), '[]')
                from jsonb_array_elements(g.included_scopes) with ordinality as each (s, nth)
               where $5::text is null
                  or not (s ->> 'org' = $5::text and s ->> 'project' is not distinct from $6::text))
       from naming where g.account_id = $1 and g.id = naming.id
     returning g.identifier as what`,
    [
      accountId,
      orgIdentifier,
      projectIdentifier,
      JSON.stringify(names),
      scope?.orgIdentifier ?? null,
      scope?.projectIdentifier ?? null,
    ],
  );

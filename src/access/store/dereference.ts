import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Store } from "../../platform/db/db.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";
import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import type { ResourceType } from "../../core/grants.ts";

/** Names of deleted resources by type: `{ SECRET: ["a", "b"] }`. */
export type Named = Readonly<Record<ResourceType, readonly string[]>>;

type RemovedNames = {
  readonly place: Place;
  readonly names: Named;
  /** A deleted scope. */
  readonly scope?: DeletedScope;
};

/** The names of the type of the entry `r`. */
const GONE_OF_TYPE = `array(select jsonb_array_elements_text($4::jsonb -> (r ->> 'type')))`;

/**
 * Removes the names from resource groups of exactly this place, since single resources are named nowhere else. Removes
 * a deleted scope from groups that include it. Returns the affected groups. An empty list of names stays, since a
 * missing list means all of the type. Locks groups in the order of their ids, as assignments do.
 */
export const removeFromGroups = (
  db: Store,
  accountId: Uuid,
  { place, names, scope }: RemovedNames,
): Promise<readonly RemovedReference[]> =>
  summarizeRemoval(db, {
    type: "RESOURCE_GROUP_ENTRY",
    text: `with naming as (
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
    values: [
      accountId,
      place.orgIdentifier,
      place.projectIdentifier,
      JSON.stringify(names),
      scope?.orgIdentifier ?? null,
      scope?.projectIdentifier ?? null,
    ],
  });

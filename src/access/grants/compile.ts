/** Maps stored assignments to grants that can be checked. */
import type { Grant, ResourceType } from "../../core/grants.ts";
import { builtInGroups, builtInRoles } from "../builtin.ts";
import type { GrantRow } from "../store/grants.ts";
import { permissions as known } from "./permission.ts";

const NONE: ReadonlySet<string> = new Set();

/** What the assignments give in one scope. A permission in `some` covers the identifiers of its type only. */
type Place = {
  readonly at: Pick<Grant, "scope" | "children">;
  whole: ReadonlySet<string>;
  readonly some: Map<string, Set<string>>;
  /** Permissions on types that the resource group does not name. */
  none: ReadonlySet<string>;
};

/**
 * Merges the assignments, so that the number of grants depends on the scopes and not on the assignments: in each scope
 * one grant for everything that is held on all resources, and one for each permission on single resources.
 */
export function compile(rows: readonly GrantRow[]): readonly Grant[] {
  const places = new Map<string, Place>();
  // Resource groups belong to the scope of their assignment.
  const groups = Map.groupBy(rows, ({ org, project, resourceGroup }) => JSON.stringify([org, project, resourceGroup]));
  for (const same of groups.values()) {
    // Only one of them has the content of a custom group. Without it nothing is granted.
    const row = same.find(({ included }) => included !== null) ?? same[0];
    if (!row || (row.included === null && !builtInGroups.has(row.resourceGroup))) continue;
    const held = same.map(permissionsOf).reduce(union);
    const at = { org: row.org, project: row.project };
    const resources = row.included ? resourcesOf(row) : "all";
    for (const scope of row.included ?? [{ ...at, children: builtInGroups.get(row.resourceGroup)?.children ?? false }])
      addTo(placeOf(places, scope), held, resources);
  }
  return [...places.values()].flatMap(grantsIn);
}

const permissionsOf = ({ permissions, role }: GrantRow): ReadonlySet<string> =>
  permissions ? new Set(permissions) : (builtInRoles.get(role)?.permissions ?? NONE);

/** Returns one of the sets if it contains the other, so that equal ones are not copied. */
const union = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> =>
  b.isSubsetOf(a) ? a : a.isSubsetOf(b) ? b : a.union(b);

function placeOf(places: Map<string, Place>, scope: NonNullable<GrantRow["included"]>[number]): Place {
  const key = JSON.stringify([scope.org, scope.project, scope.children]);
  const found = places.get(key);
  if (found) return found;
  const at = {
    scope: {
      ...(scope.org === null ? {} : { orgIdentifier: scope.org }),
      ...(scope.project === null ? {} : { projectIdentifier: scope.project }),
    },
    children: scope.children,
  };
  const made: Place = { at, whole: NONE, some: new Map(), none: NONE };
  places.set(key, made);
  return made;
}

function addTo(place: Place, held: ReadonlySet<string>, resources: Grant["resources"]): void {
  if (resources === "all") {
    place.whole = union(place.whole, held);
    return;
  }
  const [whole, none] = [new Set<string>(), new Set<string>()];
  for (const permission of held) {
    const which = resources.get(typeOf(permission));
    if (which === "all") whole.add(permission);
    else if (which === undefined) none.add(permission);
    else {
      const before = place.some.get(permission) ?? new Set();
      for (const identifier of which) before.add(identifier);
      place.some.set(permission, before);
    }
  }
  place.whole = union(place.whole, whole);
  place.none = union(place.none, none);
}

function grantsIn({ at, whole, some, none }: Place): readonly Grant[] {
  const grants: Grant[] = [];
  if (whole.size > 0) grants.push({ ...at, permissions: whole, resources: "all" });
  for (const [permission, identifiers] of some)
    if (!whole.has(permission))
      grants.push({
        ...at,
        permissions: new Set([permission]),
        resources: new Map<ResourceType, ReadonlySet<string>>([[typeOf(permission), identifiers]]),
      });
  if (!none.isSubsetOf(whole)) grants.push({ ...at, permissions: none, resources: new Map() });
  return grants;
}

const typeOf = (permission: string): ResourceType => known.get(permission)?.resourceType ?? "";

function resourcesOf({ everyResource, resources }: GrantRow): Grant["resources"] {
  if (everyResource) return "all";
  return new Map<ResourceType, "all" | ReadonlySet<string>>(
    (resources ?? []).map(({ type, identifiers }) => [type, identifiers ? new Set(identifiers) : "all"]),
  );
}

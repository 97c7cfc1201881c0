import type { Grants } from "../../../core/grants.ts";
import type { Scope } from "../../../core/scope.ts";
import { compile } from "../../grants/compile.ts";
import { levelOf, permissions, type Permission, type PermissionFacts } from "../../grants/permission.ts";
import { permitsWith, seenWith } from "../../grants/permits.ts";
import type { Place } from "../../../core/reference.ts";
import { problem } from "../../problems.ts";
import type { GrantRow } from "../../store/grants.ts";

/** What a permission is asked for: all resources of a scope, or one. */
export type Target = { readonly scope: Scope; readonly resourceIdentifier: string | undefined };

/** Whether grants give a permission: on what is asked for, or only on some resources of the scope. */
export type Extent = "all" | "some" | "none";

export function extentOf(grants: Grants, permission: Permission, { scope, resourceIdentifier }: Target): Extent {
  if (permitsWith(grants, permission, scope, resourceIdentifier)) return "all";
  if (resourceIdentifier !== undefined) return "none";
  const found = seenWith(grants, permission, scope);
  return found !== "all" && found.size === 0 ? "none" : "some";
}

/** The grants of each row alone. Of the rows over one resource group only the first has the group's content. */
export function compileEach(rows: readonly GrantRow[]): readonly Grants[] {
  const keyOf = ({ org, project, resourceGroup }: GrantRow): string => JSON.stringify([org, project, resourceGroup]);
  const contents = new Map(rows.filter(({ included }) => included !== null).map((row) => [keyOf(row), row]));
  return rows.map((row) => {
    const { included, everyResource, resources } = contents.get(keyOf(row)) ?? row;
    return compile([{ ...row, included, everyResource, resources }]);
  });
}

/** The scope and those around it, the account first. */
export function placesAround({ orgIdentifier, projectIdentifier }: Place): readonly Place[] {
  const places: Place[] = [{ orgIdentifier: null, projectIdentifier: null }];
  if (orgIdentifier !== null) places.push({ orgIdentifier, projectIdentifier: null });
  if (projectIdentifier !== null) places.push({ orgIdentifier, projectIdentifier });
  return places;
}

/**
 * The permissions that a request asks about. Throws `access.no_permission`, `access.wrong_level` for one that does not
 * count at the level of the scope, and `access.other_type`.
 */
export function askedPermissions(
  place: Place,
  { permission, resourceType }: { readonly permission: string | undefined; readonly resourceType: string | undefined },
): readonly PermissionFacts[] {
  const level = levelOf(place);
  if (permission === undefined)
    return [...permissions.values()].filter(
      (facts) => facts.levels.includes(level) && (resourceType ?? facts.resourceType) === facts.resourceType,
    );
  const facts = permissions.get(permission);
  if (!facts) throw problem("access.no_permission", [permission]);
  if (!facts.levels.includes(level)) throw problem("access.wrong_level", [permission, level]);
  if (resourceType !== undefined && facts.resourceType !== resourceType)
    throw problem("access.other_type", [permission, facts.resourceType, resourceType]);
  return [facts];
}

/** Maps stored assignments to grants that can be checked. */
import type { Grant, ResourceType } from "../../core/grants.ts";
import { builtInGroups, builtInRoles } from "../builtin.ts";
import type { GrantRow } from "../store/grants.ts";

const NONE: ReadonlySet<string> = new Set();

export function compile(rows: readonly GrantRow[]): readonly Grant[] {
  return rows.flatMap((row) => {
    const permissions = row.permissions ? new Set(row.permissions) : (builtInRoles.get(row.role)?.permissions ?? NONE);
    const at = { org: row.org, project: row.project };
    const children = builtInGroups.get(row.resourceGroup)?.children ?? false;
    const resources = row.included ? resourcesOf(row) : "all";
    return (row.included ?? [{ ...at, children }]).map((scope) => ({
      scope: {
        ...(scope.org === null ? {} : { orgIdentifier: scope.org }),
        ...(scope.project === null ? {} : { projectIdentifier: scope.project }),
      },
      children: scope.children,
      permissions,
      resources,
    }));
  });
}

function resourcesOf({ everyResource, resources }: GrantRow): Grant["resources"] {
  if (everyResource) return "all";
  return new Map<ResourceType, "all" | ReadonlySet<string>>(
    (resources ?? []).map(({ type, identifiers }) => [type, identifiers ? new Set(identifiers) : "all"]),
  );
}

import { fetchData } from "../../../api/client.ts";
import { resourceGroupList, roleList } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { Option } from "../../../ui/select.tsx";
import { levelOf, levelOfPlace, scopesAround, type ScopeLevel } from "../shared/levels.ts";

const SIZE = 100;

/** What an assignment says of its role. Built-in roles need no level. */
export type RoleRef = { readonly identifier: string; readonly scopeLevel: ScopeLevel | undefined };

/** A role as the value of an option. */
export const roleKey = ({ identifier, scopeLevel }: RoleRef): string => `${scopeLevel ?? ""}.${identifier}`;

export function parseRoleKey(key: string): RoleRef {
  const [level = "", ...rest] = key.split(".");
  return { identifier: rest.join("."), scopeLevel: level === "" ? undefined : (level as ScopeLevel) };
}

/** Roles that can be assigned in the scope: those of the scope, and those of scopes around it that allow it. */
async function listAssignableRoles(scope: Scope, signal: AbortSignal): Promise<readonly Option[]> {
  const level = levelOf(scope);
  const found = await Promise.allSettled(
    scopesAround(scope).map((at) => fetchData(roleList, { query: { ...at, pageSize: SIZE } }, { signal })),
  );
  const roles = found.flatMap((one) => (one.status === "fulfilled" ? one.value.content : []));
  const options = roles
    .filter(({ role }) => role.allowedScopeLevels.includes(level))
    .map(({ role, scope: place, platformManaged }) => {
      const own = levelOfPlace(place);
      return {
        value: roleKey({ identifier: role.identifier, scopeLevel: platformManaged ? undefined : own }),
        label: platformManaged || own === level ? role.name : `${role.name} (of the ${own})`,
      };
    });
  return [...new Map(options.map((option) => [option.value, option])).values()];
}

/** The options of a query for them. */
export const assignableRolesQuery = (scope: Scope) => ({
  queryKey: [roleList.id, "assignable", scope] as const,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => listAssignableRoles(scope, signal),
});

/** Resource groups of the scope. */
async function listResourceGroups(scope: Scope, signal: AbortSignal): Promise<readonly Option[]> {
  const { content } = await fetchData(resourceGroupList, { query: { ...scope, pageSize: SIZE } }, { signal });
  return content.map(({ resourceGroup: { identifier, name } }) => ({ value: identifier, label: name }));
}

/** The options of a query for them. */
export const resourceGroupsQuery = (scope: Scope) => ({
  queryKey: [resourceGroupList.id, "assignable", scope] as const,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => listResourceGroups(scope, signal),
});

import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import { builtInRoles } from "../builtin.ts";
import { levelOf, permissions as knownPermissions, type ScopeLevel } from "../grants/permission.ts";
import { problem } from "../problems.ts";

/**
 * A named set of permissions. A role of the account may also be assigned in organizations and projects if its levels
 * allow it.
 */
export type Role = Place & {
  /** Null for a built-in role. */
  readonly id: Uuid | null;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly permissions: readonly string[];
  readonly levels: readonly ScopeLevel[];
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type NewRole = Omit<Role, "id" | "createdAt" | "updatedAt">;

/** The built-in roles of this level, as seen from the place. */
export const builtInRolesAt = (place: Place): readonly Role[] =>
  [...builtInRoles.values()]
    .filter(({ levels }) => levels.includes(levelOf(place)))
    .map((role) => ({
      orgIdentifier: place.orgIdentifier,
      projectIdentifier: place.projectIdentifier,
      id: null,
      identifier: role.identifier,
      name: role.name,
      description: role.description,
      tags: {},
      permissions: [...role.permissions],
      levels: role.levels,
      createdAt: 0,
      updatedAt: 0,
    }));

/** The built-in role with this identifier, if it exists at the level of the key. */
export const findBuiltInRole = (key: Referred): Role | undefined =>
  builtInRolesAt(key).find(({ identifier }) => identifier === key.identifier);

/**
 * Checks that the permissions exist and are available at the levels of the role. Throws `access.reserved_identifier`,
 * `access.level_above`, `access.no_permission`, `access.wrong_level`.
 */
export function checkRole({ identifier, permissions, levels, ...place }: NewRole): void {
  if (identifier.startsWith("_")) throw problem("access.reserved_identifier", [identifier]);
  const own = ["account", "organization", "project"].indexOf(levelOf(place));
  if (levels.some((level) => ["account", "organization", "project"].indexOf(level) < own))
    throw problem("access.level_above", [identifier]);
  for (const permission of permissions) {
    const known = knownPermissions.get(permission);
    if (!known) throw problem("access.no_permission", [permission.slice(0, 128)]);
    // A permission of an account role that is available only below is useful where the role is assigned below.
    if (!levels.some((level) => known.levels.includes(level)))
      throw problem("access.wrong_level", [permission, levels.join(", ")]);
  }
}

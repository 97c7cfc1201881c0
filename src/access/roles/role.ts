import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { builtInRoles } from "../builtin.ts";
import { levelOf, type ScopeLevel } from "../grants/permission.ts";

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

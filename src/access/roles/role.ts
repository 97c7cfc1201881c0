import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { builtInRoles } from "../builtin.ts";
import { levelOf, type ScopeLevel } from "../permission.ts";

/** Permissions under a name. A role of the account may be assigned in organizations and projects too, where it says so. */
export type Role = Place & {
  /** Null for what is built in. */
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

/** Those that every scope of this level has, as they look from there. */
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

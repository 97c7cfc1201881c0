import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import { builtInGroups } from "../builtin.ts";
import { levelOf, type ScopeLevel } from "../grants/permission.ts";
import { problem } from "../problems.ts";

export type IncludedScope = {
  readonly org: string | null;
  readonly project: string | null;
  readonly children: boolean;
};
export type Resource = { readonly type: string; readonly identifiers: readonly string[] | null };

/** A set of resources in some scopes: all of them, all of some types, or some by their identifiers. */
export type ResourceGroup = Place & {
  /** Null for a built-in group. */
  readonly id: Uuid | null;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly color: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly levels: readonly ScopeLevel[];
  readonly included: readonly IncludedScope[];
  readonly everyResource: boolean;
  readonly resources: readonly Resource[];
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type NewResourceGroup = Omit<ResourceGroup, "id" | "createdAt" | "updatedAt">;

/** The built-in groups of this level, as seen from the place. */
export const builtInGroupsAt = (place: Place): readonly ResourceGroup[] =>
  [...builtInGroups.values()]
    .filter(({ levels }) => levels.includes(levelOf(place)))
    .map((group) => ({
      orgIdentifier: place.orgIdentifier,
      projectIdentifier: place.projectIdentifier,
      id: null,
      identifier: group.identifier,
      name: group.name,
      description: group.description,
      color: "",
      tags: {},
      levels: group.levels,
      included: [{ org: place.orgIdentifier, project: place.projectIdentifier, children: group.children }],
      everyResource: true,
      resources: [],
      createdAt: 0,
      updatedAt: 0,
    }));

/** The built-in group with this identifier, if it exists at the level of the key. */
export const findBuiltInGroup = (key: Referred): ResourceGroup | undefined =>
  builtInGroupsAt(key).find(({ identifier }) => identifier === key.identifier);

/**
 * Checks that a group covers only its own scope and child scopes, and names single resources in one scope only. Throws
 * `access.reserved_identifier`, `access.outside`, `access.dynamic_scope`.
 */
export function checkGroup(group: NewResourceGroup): void {
  if (group.identifier.startsWith("_")) throw problem("access.reserved_identifier", [group.identifier]);
  const { orgIdentifier, projectIdentifier } = group;
  for (const { org, project } of group.included) {
    const inside =
      (orgIdentifier === null || org === orgIdentifier) &&
      (projectIdentifier === null || project === projectIdentifier);
    if (!inside || (org === null && project !== null)) throw problem("access.outside", [org ?? "", project ?? ""]);
  }
  const [only, ...more] = group.included;
  const isOwn =
    more.length === 0 && only?.children === false && only.org === orgIdentifier && only.project === projectIdentifier;
  if (!isOwn && group.resources.some(({ identifiers }) => identifiers !== null)) throw problem("access.dynamic_scope");
}

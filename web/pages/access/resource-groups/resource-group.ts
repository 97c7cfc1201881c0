import type { DataOf } from "../../../api/client.ts";
import type { resourceGroupGet } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { levelOf } from "../shared/levels.ts";
import { typeName } from "../shared/names.ts";

export type ResourceGroup = DataOf<typeof resourceGroupGet>["resourceGroup"];
export type IncludedScope = ResourceGroup["includedScopes"][number];

/** A place that a group includes, as the form keeps it. */
export type Place = Scope & { readonly withChildren: boolean };

export const placeOf = ({ orgIdentifier, projectIdentifier, filter }: IncludedScope): Place => ({
  ...(orgIdentifier === null ? {} : { orgIdentifier }),
  ...(projectIdentifier === null ? {} : { projectIdentifier }),
  withChildren: filter === "INCLUDING_CHILD_SCOPES",
});

export const placeKey = ({ orgIdentifier = "", projectIdentifier = "" }: Scope): string =>
  projectIdentifier === "" ? orgIdentifier : `${orgIdentifier}/${projectIdentifier}`;

export const placeName = (place: Scope): string => {
  const level = levelOf(place);
  if (level === "account") return "the account";
  return level === "organization" ? `organization ${place.orgIdentifier ?? ""}` : `project ${placeKey(place)}`;
};

/** What a group includes, in one line. */
export function describeScopes(group: ResourceGroup): string {
  const places = group.includedScopes.map((scope) => {
    const place = placeOf(scope);
    return place.withChildren ? `${placeName(place)} with all below` : placeName(place);
  });
  return places.length > 3 ? `${places.slice(0, 2).join(", ")} and ${places.length - 2} more` : places.join(", ");
}

export function describeResources({ resourceFilter: { includeAllResources, resources } }: ResourceGroup): string {
  if (includeAllResources) return "All";
  if (resources.length === 0) return "None";
  return resources
    .map(({ resourceType, identifiers }) =>
      identifiers === null ? typeName(resourceType) : `${identifiers.length} of ${typeName(resourceType)}`,
    )
    .join(", ");
}

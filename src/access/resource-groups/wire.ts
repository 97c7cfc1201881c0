import { z } from "zod";
import type { Place } from "../../core/reference.ts";
import { description, displayName, scopeIdentifier, tags } from "../../platform/document/fields.ts";
import { closedObject } from "../../platform/document/json/lenient.ts";
import { epochMs, stringMap } from "../../platform/http/response/shapes.ts";
import { levelOf, resourceTypes } from "../grants/permission.ts";
import type { IncludedScope, NewResourceGroup, ResourceGroup } from "./resource-group.ts";

const LEVELS = ["account", "organization", "project"] as const;
const FILTERS = ["EXCLUDING_CHILD_SCOPES", "INCLUDING_CHILD_SCOPES"] as const;
const scope = {
  accountIdentifier: z.string().max(22).nullish(),
  orgIdentifier: scopeIdentifier.nullish(),
  projectIdentifier: scopeIdentifier.nullish(),
};

export const resourceGroupBody = z.strictObject({
  ...scope,
  identifier: scopeIdentifier,
  name: displayName,
  color: z.string().max(64).nullish(),
  tags,
  description,
  allowedScopeLevels: z.array(z.enum(LEVELS)).max(3).nullish(),
  includedScopes: z
    .array(closedObject({ ...scope, filter: z.enum(FILTERS) }))
    .max(1_000)
    .nullish(),
  resourceFilter: z
    .strictObject({
      includeAllResources: z.boolean().nullish(),
      resources: z
        .array(
          closedObject({
            resourceType: z.enum(resourceTypes as [string, ...string[]]),
            identifiers: z.array(z.string().min(1).max(128)).max(1_000).nullish(),
            attributeFilter: z.never().optional(),
          }),
        )
        .max(100)
        .nullish(),
    })
    .nullish(),
});
type Body = z.output<typeof resourceGroupBody>;

export function readResourceGroup(place: Place, body: Body): NewResourceGroup {
  const own = { ...place, filter: "EXCLUDING_CHILD_SCOPES" as const };
  const included = body.includedScopes?.length ? body.includedScopes : [own];
  const { includeAllResources, resources } = body.resourceFilter ?? {};
  return {
    ...place,
    identifier: body.identifier,
    name: body.name,
    description: body.description,
    color: body.color ?? "",
    tags: body.tags,
    levels: [levelOf(place)],
    included: distinct(
      included.map((one) => ({
        org: one.orgIdentifier ?? null,
        project: one.projectIdentifier ?? null,
        children: one.filter === "INCLUDING_CHILD_SCOPES",
      })),
    ),
    everyResource: includeAllResources ?? false,
    // All resources include the single ones.
    resources: includeAllResources
      ? []
      : (resources ?? []).map(({ resourceType, identifiers }) => ({
          type: resourceType,
          identifiers: identifiers?.length ? [...new Set(identifiers)] : null,
        })),
  };
}

/** The scopes without repeated ones, in their order. */
const distinct = (scopes: readonly IncludedScope[]): readonly IncludedScope[] => [
  ...new Map(scopes.map((one) => [JSON.stringify(one), one])).values(),
];

export const resourceGroupResponse = (accountIdentifier: string, group: ResourceGroup) => ({
  resourceGroup: {
    accountIdentifier,
    orgIdentifier: group.orgIdentifier,
    projectIdentifier: group.projectIdentifier,
    identifier: group.identifier,
    name: group.name,
    color: group.color,
    tags: group.tags,
    description: group.description,
    allowedScopeLevels: group.levels,
    includedScopes: group.included.map(({ org, project, children }) => ({
      filter: children ? FILTERS[1] : FILTERS[0],
      accountIdentifier,
      orgIdentifier: org,
      projectIdentifier: project,
    })),
    resourceFilter: {
      includeAllResources: group.everyResource,
      // A group whose single resources are all deleted names nothing. An empty list in the response would mean all of
      // the type when it is sent back.
      resources: group.resources
        .filter(({ identifiers }) => identifiers?.length !== 0)
        .map(({ type, identifiers }) => ({ resourceType: type, identifiers })),
    },
  },
  createdAt: group.createdAt,
  lastModifiedAt: group.updatedAt,
  platformManaged: group.id === null,
});

const text = z.string().nullable();
export const resourceGroupShape = z.strictObject({
  resourceGroup: z.strictObject({
    accountIdentifier: z.string(),
    orgIdentifier: text,
    projectIdentifier: text,
    identifier: z.string(),
    name: z.string(),
    color: z.string(),
    tags: stringMap,
    description: z.string(),
    allowedScopeLevels: z.array(z.enum(LEVELS)),
    includedScopes: z.array(
      z.strictObject({
        filter: z.enum(FILTERS),
        accountIdentifier: z.string(),
        orgIdentifier: text,
        projectIdentifier: text,
      }),
    ),
    resourceFilter: z.strictObject({
      includeAllResources: z.boolean(),
      resources: z.array(
        z.strictObject({
          resourceType: z.string(),
          identifiers: z.array(z.string()).nullable().describe("Null: all of the type."),
        }),
      ),
    }),
  }),
  createdAt: epochMs,
  lastModifiedAt: epochMs,
  platformManaged: z.boolean(),
});

export const filterBody = z.strictObject({
  ...scope,
  searchTerm: z.string().max(1_024).nullish(),
  identifierFilter: z.array(z.string().max(128)).max(1_000).nullish(),
  managedFilter: z.enum(["NO_FILTER", "ONLY_MANAGED", "ONLY_CUSTOM"]).nullish(),
  resourceSelectorFilterList: z.array(z.never()).nullish(),
  scopeLevelFilter: z.array(z.never()).nullish(),
});

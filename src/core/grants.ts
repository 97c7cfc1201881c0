import type { Scope } from "./scope.ts";

/**
 * A resource type as resource groups name it: `PIPELINE`, `SECRET`. The values are in `NOUNS` of
 * src/access/grants/permission.ts.
 */
export type ResourceType = string;

/**
 * The permissions of one role assignment in the form that permission checks use without reading the database.
 * Grants add up; none of them removes a permission.
 */
export type Grant = {
  readonly scope: Omit<Scope, "accountId">;
  /** Whether the grant includes the scopes below. */
  readonly children: boolean;
  readonly permissions: ReadonlySet<string>;
  /** The resource types, and the identifiers of each type. */
  readonly resources: "all" | ReadonlyMap<ResourceType, "all" | ReadonlySet<string>>;
};

/** All grants of one principal. */
export type Grants = readonly Grant[];

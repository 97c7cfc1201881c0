import type { Scope } from "./scope.ts";

/** What permissions are about, as resource groups name it: `PIPELINE`, `SECRET`. */
export type ResourceType = string;

/**
 * What one role assignment gives its holder, made ready to be asked: nothing is read while a permission is checked.
 * Grants add up; none takes anything away.
 */
export type Grant = {
  readonly scope: Omit<Scope, "accountId">;
  /** Whether it holds in what lies below the scope, too. */
  readonly children: boolean;
  readonly permissions: ReadonlySet<string>;
  /** Of which types, and of those which identifiers. */
  readonly resources: "all" | ReadonlyMap<ResourceType, "all" | ReadonlySet<string>>;
};

export type Grants = readonly Grant[];

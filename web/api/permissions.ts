import { useSuspenseQuery } from "@tanstack/react-query";
import { fetchData } from "./client.ts";
import type { AnyOperation } from "./operation.ts";
import { accessListOwn } from "./operations.gen.ts";

/** A place in the account. Without identifiers it is the account itself, without the second one an organization. */
export type Scope = { readonly orgIdentifier?: string; readonly projectIdentifier?: string };

/** The permissions of the signed-in user in a scope: on all resources of their types, or on those with these identifiers. */
export type Permitted = ReadonlyMap<string, "all" | ReadonlySet<string>>;

/** The options of a query for what the signed-in user may do in the scope. */
export function permissionsQuery(scope: Scope) {
  return {
    queryKey: ["permissions", scope.orgIdentifier ?? "", scope.projectIdentifier ?? ""] as const,
    // Without the signal: a loader that waits for it must not fail because a component that asked, too, was removed.
    queryFn: async (): Promise<Permitted> => {
      const { permissions } = await fetchData(accessListOwn, { query: scope });
      return new Map(
        permissions.map(({ permission, allResources, resourceIdentifiers }) => [
          permission,
          allResources ? "all" : new Set(resourceIdentifiers),
        ]),
      );
    },
    staleTime: 30_000,
  };
}

/**
 * Tells whether the user may call the operation in the scope: on the resource with the identifier, or on all without
 * one. The API decides when it is called.
 */
export type May = (operation: AnyOperation, identifier?: string) => boolean;

export const mayBy =
  (permitted: Permitted): May =>
  ({ permission }, identifier) => {
    if (permission === null) return true;
    const held = permitted.get(permission);
    return held === "all" || (identifier !== undefined && held?.has(identifier) === true);
  };

/** Tells whether the user holds the operation's permission on any resource, so that a list is not empty for that reason. */
export const mayOnSome =
  (permitted: Permitted): May =>
  ({ permission }) =>
    permission === null || permitted.has(permission);

/** Suspends until the permissions of the scope are known; the loaders of projectRoute and accountRoute have them. */
export function useMay(scope: Scope): May {
  const { data } = useSuspenseQuery(permissionsQuery(scope));
  return mayBy(data);
}

/** The same for what begins pages: a permission on any resource counts. */
export function useMayOnSome(scope: Scope): May {
  const { data } = useSuspenseQuery(permissionsQuery(scope));
  return mayOnSome(data);
}

/** References between resources of different scopes, as documents write them. */
import type { Uuid } from "./ids.ts";
import type { Scope } from "./scope.ts";

/** The scope of a resource inside its account; null for a level that it does not have. */
export type Place = { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };

/** What a reference names. The resource need not exist. */
export type Referred = Place & { readonly identifier: string };

// Identifiers of secrets may contain hyphens; no identifier contains a dot.
const REFERENCE = /^(?:(account|org)\.)?([a-zA-Z_][0-9a-zA-Z_$-]{0,127})$/;

/**
 * Resolves a reference in a resource of the scope `home`: `account.x` in the account, `org.x` in the organization of
 * `home`, plain `x` in `home` itself. Undefined for any other form, and for `org.x` outside of an organization.
 */
export function referred(reference: string, home: Place): Referred | undefined {
  const [, level, identifier] = REFERENCE.exec(reference) ?? [];
  if (identifier === undefined) return undefined;
  if (level === "account") return { orgIdentifier: null, projectIdentifier: null, identifier };
  const { orgIdentifier, projectIdentifier } = home;
  if (level === undefined) return { orgIdentifier, projectIdentifier, identifier };
  return orgIdentifier === null ? undefined : { orgIdentifier, projectIdentifier: null, identifier };
}

/** The place as a scope for permission checks. */
export const scopeOf = (accountId: Uuid, place: Place): Scope => ({ accountId, ...within(place) });

/** The place as a scope inside the account, for audit entries. */
export const within = ({ orgIdentifier, projectIdentifier }: Place): Omit<Scope, "accountId"> => ({
  ...(orgIdentifier === null ? {} : { orgIdentifier }),
  ...(projectIdentifier === null ? {} : { projectIdentifier }),
});

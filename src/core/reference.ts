/** References between things of different scopes, as documents write them. */
import type { Uuid } from "./ids.ts";
import type { Scope } from "./scope.ts";

/** Where a thing lives inside its account; null for what is not narrowed. */
export type Place = { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };

export type Referred = Place & { readonly identifier: string };

// Secrets may have hyphens in their identifiers; nothing has a dot.
const REFERENCE = /^(?:(account|org)\.)?([a-zA-Z_][0-9a-zA-Z_$-]{0,127})$/;

/**
 * What `reference` names when it stands in a thing that lives at `home`: `account.x` in the account, `org.x` in
 * home's organization, plain `x` at home itself. Undefined for what can name nothing: not of that form, or `org.x`
 * outside of any organization.
 */
export function referred(reference: string, home: Place): Referred | undefined {
  const [, level, identifier] = REFERENCE.exec(reference) ?? [];
  if (identifier === undefined) return undefined;
  if (level === "account") return { orgIdentifier: null, projectIdentifier: null, identifier };
  const { orgIdentifier, projectIdentifier } = home;
  if (level === undefined) return { orgIdentifier, projectIdentifier, identifier };
  return orgIdentifier === null ? undefined : { orgIdentifier, projectIdentifier: null, identifier };
}

/** The place as operations ask for permissions in it. */
export const scopeOf = (accountId: Uuid, place: Place): Scope => ({ accountId, ...within(place) });

/** The same inside the account, as the audit trail takes it. */
export const within = ({ orgIdentifier, projectIdentifier }: Place): Omit<Scope, "accountId"> => ({
  ...(orgIdentifier === null ? {} : { orgIdentifier }),
  ...(projectIdentifier === null ? {} : { projectIdentifier }),
});

import type { Scope } from "../../../api/permissions.ts";

export type ScopeLevel = "account" | "organization" | "project";

export const levelOf = ({ orgIdentifier, projectIdentifier }: Scope): ScopeLevel =>
  projectIdentifier !== undefined ? "project" : orgIdentifier !== undefined ? "organization" : "account";

/** The scope and those around it, the innermost first. */
export function scopesAround(scope: Scope): readonly Scope[] {
  const { orgIdentifier, projectIdentifier } = scope;
  return [
    ...(projectIdentifier === undefined ? [] : [scope]),
    ...(orgIdentifier === undefined ? [] : [{ orgIdentifier }]),
    {},
  ];
}

/** The one of the scopes around this one that has the level. */
export const scopeAt = (level: ScopeLevel, scope: Scope): Scope =>
  scopesAround(scope).find((one) => levelOf(one) === level) ?? scope;

/** The level of what the API places by two identifiers. */
export const levelOfPlace = (place: {
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
}): ScopeLevel =>
  place.projectIdentifier !== null ? "project" : place.orgIdentifier !== null ? "organization" : "account";

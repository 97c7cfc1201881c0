/** Trees of filters and paths (RFC 7644 sections 3.4.2.2 and 3.5.2, figures 1 and 7). */

/** `name`, `name.familyName`, `urn:…:User:department`; without a schema it is the resource's own. */
export type AttributePath = { readonly schema?: string; readonly name: string; readonly sub?: string };

export const COMPARISONS = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
export type Comparison = (typeof COMPARISONS)[number];

export type Literal = string | number | boolean | null;

export type Filter =
  | { readonly kind: "and" | "or"; readonly left: Filter; readonly right: Filter }
  | { readonly kind: "not"; readonly of: Filter }
  | { readonly kind: "present"; readonly path: AttributePath }
  | { readonly kind: "compare"; readonly path: AttributePath; readonly by: Comparison; readonly value: Literal }
  /** Matches if one value of the list matches the whole filter. */
  | { readonly kind: "some"; readonly path: AttributePath; readonly of: Filter };

/** The target of a patch: `members[value eq "x"]`, `emails[type eq "work"].value`, `name.givenName`. */
export type PatchPath = { readonly attribute: AttributePath; readonly filter?: Filter; readonly sub?: string };

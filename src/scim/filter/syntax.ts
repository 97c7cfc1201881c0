/** Filters and paths as trees (RFC 7644 sections 3.4.2.2 and 3.5.2, figures 1 and 7). */

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
  /** Some value of the list fits the filter as a whole. */
  | { readonly kind: "some"; readonly path: AttributePath; readonly of: Filter };

/** Where a patch changes something: `members[value eq "x"]`, `emails[type eq "work"].value`, `name.givenName`. */
export type PatchPath = { readonly attribute: AttributePath; readonly filter?: Filter; readonly sub?: string };

import type { Json } from "../../engine/index.ts";

/** A member of a value of any form. */
export function member(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined;
  return (value as { readonly [key: string]: Json })[key];
}

export const itemsOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

/** A text that is not empty. */
export const textIn = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

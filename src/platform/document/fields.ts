/** Fields that documents of every kind have in common. Empty YAML values (`tags:`) count as left out. */
import { z } from "zod";
import { ENTITY_IDENTIFIER, isReserved, NAME, SCOPE_IDENTIFIER } from "../../core/identifier.ts";

const notReserved = (pattern: RegExp, what: string) =>
  z
    .string()
    .regex(pattern, what)
    .refine((text) => !isReserved(text), { error: "is a reserved word" });

export const scopeIdentifier = notReserved(
  SCOPE_IDENTIFIER,
  "must begin with a letter or _ and hold letters, digits, _ and $ only, 128 at most",
);
export const entityIdentifier = notReserved(
  ENTITY_IDENTIFIER,
  "must begin with a letter or _ and hold letters, digits and _ only, 128 at most",
);
export const displayName = z.string().regex(NAME, "must hold letters, digits, spaces, _, - and . only, 128 at most");
export const description = z
  .string()
  .max(4_096)
  .nullish()
  .transform((text) => text ?? "");
const MAX_TAGS = 128;
export const tagMap = z
  .record(z.string().min(1).max(128), z.string().max(256))
  .refine((map) => Object.keys(map).length <= MAX_TAGS, { error: `At most ${MAX_TAGS} tags allowed` });
export const tags = tagMap.nullish().transform((map) => ({ ...map }));

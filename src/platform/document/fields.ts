/** Fields that documents of every kind have in common. Empty YAML values (`tags:`) count as left out. */
import { z } from "zod";
import { ENTITY_IDENTIFIER, isReserved, NAME, SCOPE_IDENTIFIER } from "../../core/identifier.ts";

const notReserved = (pattern: RegExp, what: string) =>
  z
    .string()
    .regex(pattern, what)
    .refine((text) => !isReserved(text), { error: "is a reserved word" });

/** Identifier that may contain `$`, as of organizations, projects and connectors. Reserved words are refused. */
export const scopeIdentifier = notReserved(
  SCOPE_IDENTIFIER,
  "must begin with a letter or _ and hold letters, digits, _ and $ only, 128 at most",
);
/** Identifier without `$`, as of triggers and input sets. Reserved words are refused. */
export const entityIdentifier = notReserved(
  ENTITY_IDENTIFIER,
  "must begin with a letter or _ and hold letters, digits and _ only, 128 at most",
);
/** A name for people: unlike an identifier it may contain spaces and begin with a digit. */
export const displayName = z.string().regex(NAME, "must hold letters, digits, spaces, _, - and . only, 128 at most");
/** At most 4096 characters; an empty text where it is left out or null. */
export const description = z
  .string()
  .max(4_096)
  .nullish()
  .transform((text) => text ?? "");
const MAX_TAGS = 128;
/** At most 128 tags. Their names have 1 to 128 characters, their values at most 256. */
export const tagMap = z
  .record(z.string().min(1).max(128), z.string().max(256))
  .refine((map) => Object.keys(map).length <= MAX_TAGS, { error: `At most ${MAX_TAGS} tags allowed` });
/** As `tagMap`; an empty map where it is left out or null. */
export const tags = tagMap.nullish().transform((map) => ({ ...map }));

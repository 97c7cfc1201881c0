import { z } from "zod";

export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * Schemas that get a definition of their own in a JSON Schema. Those of one name are alike: the first one stands for all,
 * so that a list which nests to a fixed depth becomes one that refers to itself.
 */
export const definitions = z.registry<{ readonly name: string }>();

export const defined = <T extends z.ZodType>(schema: T, name: string): T => {
  definitions.add(schema, { name });
  return schema;
};

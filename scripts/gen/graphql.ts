import { lexicographicSortSchema, printSchema } from "graphql";
import type { Generator } from "../lib/generated.ts";

/** The schema as clients see it. The import is dynamic, because it loads the whole application. */
export const graphql: Generator = {
  file: "api/schema.graphql",
  make: async () => {
    const { describePlatform } = await import("../lib/described.ts");
    const { schema } = await describePlatform();
    return `${printSchema(lexicographicSortSchema(schema))}\n`;
  },
};

import { lexicographicSortSchema, printSchema } from "graphql";
import type { Generator } from "../lib/generated.ts";

/** The schema as clients see it. Loaded only when asked for: it pulls in the whole application. */
export const graphql: Generator = {
  file: "api/schema.graphql",
  make: async () => {
    const { describePlatform } = await import("../lib/described.ts");
    const { schema } = await describePlatform();
    return `${printSchema(lexicographicSortSchema(schema))}\n`;
  },
};

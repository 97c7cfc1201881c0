import { buildClientSchema, getIntrospectionQuery, type GraphQLSchema, type IntrospectionQuery } from "graphql";
import { runQuery } from "../../../api/graphql.ts";

/** The schema as the editor needs it. */
export const schemaQuery = {
  queryKey: ["graphql-schema"],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<GraphQLSchema> => {
    const answer = (await runQuery({ query: getIntrospectionQuery() }, signal)) as {
      readonly data: IntrospectionQuery;
    };
    return buildClientSchema(answer.data);
  },
  staleTime: Number.POSITIVE_INFINITY,
} as const;

/** The variables of a text. Throws SyntaxError, or TypeError if it is JSON but no object. */
export function parseVariables(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === "") return undefined;
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new TypeError("Variables are a JSON object.");
  return parsed as Readonly<Record<string, unknown>>;
}

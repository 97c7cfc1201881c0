/** Errors as clients of this API family match them: `Exception while fetching data (/<path>) : <cause>`. */
import { GraphQLError, Kind, type GraphQLFormattedError } from "graphql";
import type { Problem } from "../../core/problem.ts";
import { withoutValues } from "./without-values.ts";

/** The field's own name: how the caller calls it in the path (an alias) may be any text. */
export const fieldOf = ({ nodes }: GraphQLError): string => {
  const node = nodes?.at(-1);
  return node?.kind === Kind.FIELD ? node.name.value : "field";
};

type Explain = (error: unknown) => Problem;

/** `["application", "pipelines", "nodes", 0, "name"]` → `/application/pipelines/nodes[0]/name`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path.map((part) => (typeof part === "number" ? `[${part}]` : `/${part}`)).join("");

export function formatGraphqlError(error: GraphQLError, explain: Explain): GraphQLFormattedError {
  const cause = error.originalError ?? undefined;
  if (!error.path) return beforeExecution(error);
  const failed = cause instanceof GraphQLError || cause === undefined ? undefined : explain(cause);
  return {
    message: `Exception while fetching data (${pathText(error.path)}) : ${failed?.message ?? error.message}`,
    ...(error.locations ? { locations: error.locations } : {}),
    path: error.path,
    extensions: { classification: "DataFetchingException", ...(failed ? { code: failed.wire } : {}) },
  };
}

function beforeExecution(error: GraphQLError): GraphQLFormattedError {
  const syntax = error.message.startsWith("Syntax Error");
  return {
    message: withoutValues(error),
    ...(error.locations ? { locations: error.locations } : {}),
    extensions: { classification: syntax ? "InvalidSyntax" : "ValidationError" },
  };
}

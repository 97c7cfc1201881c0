/** Errors as clients of this API family match them: `Exception while fetching data (/<path>) : <cause>`. */
import { GraphQLError, Kind, visit, type DocumentNode, type GraphQLFormattedError } from "graphql";
import type { Problem } from "../../../core/problem.ts";
import { problem } from "../problems.ts";
import { messageWithoutValues } from "../request/without-values.ts";

/** Errors that one answer lists. A failing field below a list fails once for each entry. */
const MAX_ERRORS = 100;
/** Characters of one message beside its path, which the bounds of documents keep short. */
const MAX_MESSAGE = 4_096;
/** Places of one error: a field may be named many times. */
const MAX_LOCATIONS = 20;

/** The names of the fields of a document, by their places. */
const fieldsByPlace = new WeakMap<DocumentNode, ReadonlyMap<string, string>>();

/**
 * The field's own name: how the caller calls it in the path (an alias) may be any text. An error of a compiled query
 * has only the place of its field.
 */
export function fieldOf({ nodes, locations }: GraphQLError, document: DocumentNode): string {
  const node = nodes?.at(-1);
  if (node?.kind === Kind.FIELD) return node.name.value;
  const fields = fieldsByPlace.get(document) ?? readFields(document);
  fieldsByPlace.set(document, fields);
  const [place] = locations ?? [];
  return fields.get(`${place?.line}:${place?.column}`) ?? "field";
}

function readFields(document: DocumentNode): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  visit(document, {
    Field: ({ name, loc }) => void (loc && fields.set(`${loc.startToken.line}:${loc.startToken.column}`, name.value)),
  });
  return fields;
}

type Explain = (error: unknown) => Problem;

/** `["application", "pipelines", "nodes", 0, "name"]` → `/application/pipelines/nodes[0]/name`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path.map((part) => (typeof part === "number" ? `[${part}]` : `/${part}`)).join("");

/** The first errors as the answer lists them; one more says how many are left out, of which nothing is explained. */
export function formatGraphqlErrors(errors: readonly GraphQLError[], explain: Explain): GraphQLFormattedError[] {
  const formatted = errors.slice(0, MAX_ERRORS).map((error) => formatGraphqlError(error, explain));
  const left = errors.length - formatted.length;
  if (left > 0) {
    const { message, wire } = problem("graphql.more_errors", [String(left)]);
    formatted.push({ message, extensions: { classification: "DataFetchingException", code: wire, leftOut: left } });
  }
  return formatted;
}

export function formatGraphqlError(error: GraphQLError, explain: Explain): GraphQLFormattedError {
  const cause = error.originalError ?? undefined;
  if (!error.path) return beforeExecution(error);
  const failed = cause instanceof GraphQLError || cause === undefined ? undefined : explain(cause);
  return {
    message: `Exception while fetching data (${pathText(error.path)}) : ${short(failed?.message ?? error.message)}`,
    ...placesOf(error),
    path: error.path,
    extensions: { classification: "DataFetchingException", ...(failed ? { code: failed.wire } : {}) },
  };
}

function beforeExecution(error: GraphQLError): GraphQLFormattedError {
  const syntax = error.message.startsWith("Syntax Error");
  return {
    message: short(messageWithoutValues(error)),
    ...placesOf(error),
    extensions: { classification: syntax ? "InvalidSyntax" : "ValidationError" },
  };
}

const short = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text);

/**
 * Tokens know their place. An error would search the text for it, which `documents.ts` has taken away for that reason.
 */
function placesOf({ nodes, locations }: GraphQLError): Pick<GraphQLFormattedError, "locations"> {
  const places =
    nodes?.flatMap(({ loc }) => (loc ? [{ line: loc.startToken.line, column: loc.startToken.column }] : [])) ??
    locations;
  return places ? { locations: places.slice(0, MAX_LOCATIONS) } : {};
}

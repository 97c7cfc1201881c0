/** Parameters of a list, from the query or from the body of `/.search` (RFC 7644 sections 3.4.2 and 3.4.3). */
import { z } from "zod";
import { selectionOf, type Selection } from "./document/show.ts";
import { isMap } from "./document/read.ts";
import { parseFilter, parsePath } from "./filter/parse.ts";
import { badSort } from "./filter/tokens.ts";
import { problem } from "./problems.ts";
import type { Search } from "./store/search.ts";

export const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
export const SEARCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:SearchRequest";
const DEFAULT_COUNT = 100;
export const MAX_COUNT = 1_000;
/** The largest start index; PostgreSQL would count rows beyond it for too long. */
const MAX_START = 1_000_000_000;

const text = z.string().max(4_096).optional();
/** Parameters with a length check of their own. */
const parsed = z.string().optional();
export const selectionQuery = z.object({ attributes: text, excludedAttributes: text });
export const listQuery = selectionQuery.extend({
  filter: parsed,
  sortBy: parsed,
  sortOrder: text,
  startIndex: text,
  count: text,
});

export type ListRequest = { readonly search: Search; readonly selection: Selection; readonly startIndex: number };

const names = (list: string | undefined): readonly string[] | undefined => {
  const found = list?.split(",").map((name) => name.trim());
  return found?.some((name) => name !== "") ? found.filter((name) => name !== "") : undefined;
};

export const selectionIn = (query: z.output<typeof selectionQuery>): Selection =>
  selectionOf(names(query.attributes), names(query.excludedAttributes));

export const listRequestOf = (query: z.output<typeof listQuery>): ListRequest =>
  toListRequest(query, selectionIn(query), {
    startIndex: whole("startIndex", query.startIndex),
    count: whole("count", query.count),
  });

/** Reads the body of a search: numbers as numbers, names as lists. Throws `scim.invalid_syntax`. */
export function listRequestOfBody(body: unknown): ListRequest {
  const at = isMap(body) ? body : {};
  if (!Array.isArray(at["schemas"]) || !at["schemas"].includes(SEARCH_SCHEMA))
    throw problem("scim.invalid_syntax", [`schemas must name ${SEARCH_SCHEMA}.`]);
  const read = searchBody.safeParse(body);
  if (!read.success) throw problem("scim.invalid_value", [`${read.error.issues[0]?.path.join(".")} is wrong.`]);
  const { attributes, excludedAttributes, startIndex, count, ...query } = read.data;
  return toListRequest(query, selectionOf(attributes, excludedAttributes), { startIndex, count });
}

const list = z.array(z.string().max(256)).max(100).optional();
const number = z.int().min(-1_000_000_000).max(1_000_000_000).optional();
export const searchBody = z.object({
  schemas: z.array(z.string()).max(10),
  attributes: list,
  excludedAttributes: list,
  filter: parsed,
  sortBy: parsed,
  sortOrder: text,
  startIndex: number,
  count: number,
});

type Plain = Pick<z.output<typeof listQuery>, "filter" | "sortBy" | "sortOrder">;

type RequestedPage = { readonly startIndex: number | undefined; readonly count: number | undefined };

function toListRequest(query: Plain, selection: Selection, page: RequestedPage): ListRequest {
  const { startIndex: start = 1, count = DEFAULT_COUNT } = page;
  // A smaller start index means 1, and a negative count means 0.
  const startIndex = Math.min(Math.max(1, start), MAX_START);
  const order = (query.sortOrder ?? "ascending").toLowerCase();
  if (order !== "ascending" && order !== "descending")
    throw problem("scim.invalid_value", ["sortOrder is ascending or descending."]);
  const search = {
    ...(query.filter ? { filter: parseFilter(query.filter) } : {}),
    ...(query.sortBy ? { sortBy: parsePath(query.sortBy, badSort).attribute } : {}),
    descending: order === "descending",
    limit: Math.min(Math.max(0, count), MAX_COUNT),
    offset: startIndex - 1,
  };
  return { search, selection, startIndex };
}

function whole(name: string, given: string | undefined): number | undefined {
  if (given === undefined || given === "") return undefined;
  if (!/^-?\d{1,10}$/.test(given)) throw problem("scim.invalid_value", [`${name} takes a whole number.`]);
  return Number(given);
}

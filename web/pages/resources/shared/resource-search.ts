import { parseListSearch, type ListSearch } from "../../../util/list-search.ts";

/** What the list of a kind of resource keeps in its address. */
export type ResourceSearch = ListSearch & {
  /** The identifier of the resource whose details are open. */
  readonly open?: string;
};

export function parseResourceSearch(given: Readonly<Record<string, unknown>>): ResourceSearch {
  const { open } = given;
  const isText = typeof open === "string" || typeof open === "number";
  return { ...parseListSearch(given), ...(isText && open !== "" ? { open: String(open) } : {}) };
}

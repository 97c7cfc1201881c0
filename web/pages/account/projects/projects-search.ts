import { parseListSearch, type ListSearch } from "../../../util/list-search.ts";

/** What the list of projects keeps in its address. */
export type ProjectsSearch = ListSearch & {
  /** The identifier of an organization. */
  readonly org?: string;
};

export function parseProjectsSearch(given: Readonly<Record<string, unknown>>): ProjectsSearch {
  const { org } = given;
  return { ...parseListSearch(given), ...(typeof org === "string" && org !== "" ? { org } : {}) };
}

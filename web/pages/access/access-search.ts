import { parseListSearch, type ListSearch } from "../../util/list-search.ts";

/** What the lists of access keep in their addresses. */
export type AccessSearch = ListSearch & {
  /** The item whose details are open. */
  readonly show?: string;
  /** Filters of those who may do something, and what is explained. */
  readonly permission?: string;
  readonly resource?: string;
  readonly type?: string;
};

const TEXTS = ["show", "permission", "resource", "type"] as const;

export function parseAccessSearch(search: Readonly<Record<string, unknown>>): AccessSearch {
  const texts = TEXTS.flatMap((name) => {
    const value = search[name];
    return (typeof value === "string" || typeof value === "number") && value !== "" ? [[name, String(value)]] : [];
  });
  return { ...parseListSearch(search), ...(Object.fromEntries(texts) as AccessSearch) };
}

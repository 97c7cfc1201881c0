/** What the page of versions keeps in its address: the compared versions, and the page of the list from 1. */
export type VersionSearch = { readonly version?: number; readonly with?: number; readonly page?: number };

/** For `validateSearch` of the route. */
export function parseVersionSearch(search: Readonly<Record<string, unknown>>): VersionSearch {
  const numberOf = (name: string, least: number) => {
    const number = Number(search[name]);
    return Number.isSafeInteger(number) && number >= least ? { [name]: number } : {};
  };
  return { ...numberOf("version", 1), ...numberOf("with", 1), ...numberOf("page", 2) };
}

/** What a list page keeps in its address: the searched text, and the page from 1. */
export type ListSearch = { readonly q?: string; readonly page?: number };

/** For `validateSearch` of routes. The first page and an empty text are left out of the address. */
export function parseListSearch({ q, page }: Readonly<Record<string, unknown>>): ListSearch {
  const number = Number(page);
  return {
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(Number.isSafeInteger(number) && number > 1 ? { page: number } : {}),
  };
}

/** Whose resources the page shows, as the address has it. A service account also has the place where it belongs. */
export type OwnershipSearch = {
  readonly principal?: string;
  readonly orgIdentifier?: string;
  readonly projectIdentifier?: string;
  readonly page?: number;
};

const TEXTS = ["principal", "orgIdentifier", "projectIdentifier"] as const;

export function parseOwnershipSearch(search: Readonly<Record<string, unknown>>): OwnershipSearch {
  const texts = TEXTS.flatMap((name) => {
    const value = search[name];
    return (typeof value === "string" || typeof value === "number") && value !== "" ? [[name, String(value)]] : [];
  });
  const page = Number(search["page"]);
  return {
    ...(Object.fromEntries(texts) as OwnershipSearch),
    ...(Number.isSafeInteger(page) && page > 1 ? { page } : {}),
  };
}

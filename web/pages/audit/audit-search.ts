/** What the pages of the audit trail keep in their address. */
export const AUDIT_LISTS = ["actor", "action", "resource", "outcome", "scope"] as const;
type AuditList = (typeof AUDIT_LISTS)[number];

export type AuditSearch = {
  readonly q?: string;
  readonly page?: number;
  /** A range of time as in time-range.ts. */
  readonly when?: string;
  /** The opened entry: its time, and its id. */
  readonly entry?: string;
} & Partial<Readonly<Record<AuditList, readonly string[]>>>;

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;

export function parseAuditSearch(given: Readonly<Record<string, unknown>>): AuditSearch {
  const found: Record<string, string | number | readonly string[]> = {};
  for (const key of ["q", "when", "entry"]) {
    const value = text(given[key]);
    if (value !== undefined) found[key] = value;
  }
  for (const key of AUDIT_LISTS) {
    const values = [given[key]].flat().flatMap((one) => text(one) ?? []);
    if (values.length > 0) found[key] = values;
  }
  const page = Number(given["page"]);
  if (Number.isSafeInteger(page) && page > 1) found["page"] = page;
  return found;
}

/** Whether anything but page and opened entry restricts the list. */
export const isFiltered = ({ page: _page, entry: _entry, ...filters }: AuditSearch): boolean =>
  Object.keys(filters).length > 0;

export type EntryKey = { readonly at: number; readonly id: string };

export const writeEntryKey = ({ at, id }: EntryKey): string => `${at}-${id}`;

export function readEntryKey(value: string | undefined): EntryKey | undefined {
  const [, at, id] = /^(\d{1,15})-([\w-]{1,64})$/.exec(value ?? "") ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}

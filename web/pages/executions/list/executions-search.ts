/** The filters of the list of executions, as its address has them. */
export const LIST_FILTERS = ["status", "trigger", "person", "environment", "service", "webhook"] as const;
type ListFilter = (typeof LIST_FILTERS)[number];

export type ExecutionsSearch = {
  readonly q?: string;
  /** The identifier of a pipeline. */
  readonly pipeline?: string;
  /** `24h`, `7d`, or days as `2026-03-01..2026-03-04`, of which either may be missing. */
  readonly started?: string;
  /** Where an older page begins: the last execution of the page before it, and its start. */
  readonly before?: string;
} & Partial<Readonly<Record<ListFilter, readonly string[]>>>;

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;

function texts(value: unknown): readonly string[] | undefined {
  const all = (Array.isArray(value) ? value : [value]).flatMap((one) => text(one) ?? []);
  return all.length === 0 ? undefined : all;
}

export function parseExecutionsSearch(given: Readonly<Record<string, unknown>>): ExecutionsSearch {
  const found: Record<string, string | readonly string[]> = {};
  for (const key of ["q", "pipeline", "started", "before"]) {
    const value = text(given[key]);
    if (value !== undefined) found[key] = value;
  }
  for (const key of LIST_FILTERS) {
    const value = texts(given[key]);
    if (value !== undefined) found[key] = value;
  }
  return found;
}

/** Whether anything but the page restricts the list. */
export const isFiltered = ({ before: _, ...filters }: ExecutionsSearch): boolean => Object.keys(filters).length > 0;

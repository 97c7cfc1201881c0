/** One page of a list, cut by offset. `total`, what the filter matches in all, is counted only when somebody asks. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly offset: number;
  readonly limit: number;
  readonly total: () => Promise<number>;
};

/** What most lists may be sorted by. */
export const SORT_FIELDS = ["name", "identifier", "createdAt", "lastModifiedAt"] as const;
export type SortField = (typeof SORT_FIELDS)[number] | "email" | "timestamp";
export type SortOrder = { readonly field: SortField; readonly descending: boolean };

/** Which part of a list, and in which order where the caller asks for one. */
export type Window = {
  readonly limit: number;
  readonly offset: number;
  readonly order?: readonly SortOrder[] | undefined;
};

/** One page of a list, by offset. `total` counts all matches of the filter, only when it is called. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly offset: number;
  readonly limit: number;
  readonly total: () => Promise<number>;
};

/** The fields that most lists sort by. */
export const SORT_FIELDS = ["name", "identifier", "createdAt", "lastModifiedAt"] as const;
/** The fields that any list sorts by. Each list accepts some of them. */
export type SortField = (typeof SORT_FIELDS)[number] | "email" | "timestamp";
/** One field of an order. Later ones of the list decide between equal values. */
export type SortOrder = { readonly field: SortField; readonly descending: boolean };

/** Part of a list, and its order if the caller chooses one. */
export type Window = {
  readonly limit: number;
  readonly offset: number;
  readonly order?: readonly SortOrder[] | undefined;
};

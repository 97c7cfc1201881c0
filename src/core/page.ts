/** One page of a list, cut by offset. `total`, what the filter matches in all, is counted only when somebody asks. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly offset: number;
  readonly limit: number;
  readonly total: () => Promise<number>;
};

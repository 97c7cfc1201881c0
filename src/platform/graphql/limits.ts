/** Entries of a list whose `limit` is not given. */
export const DEFAULT_LIMIT = 100;
/** Entries of a list at most; a larger `limit` is cut to it. */
export const MAX_LIMIT = 1_000;

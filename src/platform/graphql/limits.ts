/** Default `limit` of a list. */
export const DEFAULT_LIMIT = 100;
/** Largest `limit` of a list; a larger one is reduced to it. */
export const MAX_LIMIT = 1_000;

/** Lengths of GraphQL lists. `request/` limits size and syntax of requests, `cost/` their cost. */

/** Default `limit` of a list. */
export const DEFAULT_LIMIT = 100;
/** Largest `limit` of a list; a larger one is reduced to it. */
export const MAX_LIMIT = 1_000;
/**
 * Assumed entries of a list without a `limit`, such as tags and stages, in the cost of a query. A list of texts counts
 * as one text.
 */
export const PLAIN_LIST = 10;

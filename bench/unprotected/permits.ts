/**
 * Replaces src/access/grants/permits.ts in a benchmark: every actor has every permission. What is not replaced here,
 * the original exports.
 */
export * from "../../src/access/grants/permits.ts";
export const permits = (): boolean => true;
export const refusalOf = (): undefined => undefined;
export const permitsWith = (): boolean => true;
export const authorize = (): void => undefined;
export const authorizeSomewhere = (): void => undefined;
export const holdsSomewhere = (): boolean => true;
export const seen = (): "all" => "all";
export const reach = (): "all" => "all";

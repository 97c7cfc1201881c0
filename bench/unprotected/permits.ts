/** In the place of src/access/grants/permits.ts, for a benchmark: everybody may do everything. */
export const permits = (): boolean => true;
export const refusalOf = (): undefined => undefined;
export const permitsWith = (): boolean => true;
export const authorize = (): void => undefined;
export const authorizeSomewhere = (): void => undefined;
export const holdsSomewhere = (): boolean => true;
export const seen = (): "all" => "all";
export const reach = (): "all" => "all";

/** Days that the charts show. */
export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];
export type HomeSearch = { readonly days?: Range };

const USUAL: Range = 30;

/** The usual range is left out of the address. */
export function parseHomeSearch({ days }: Readonly<Record<string, unknown>>): HomeSearch {
  const range = RANGES.find((one) => one === Number(days));
  return range === undefined || range === USUAL ? {} : { days: range };
}

/** The time, as an argument: epoch milliseconds. Tests drive it by hand. */
export type Clock = { readonly now: () => number };

export const systemClock: Clock = { now: () => Date.now() };

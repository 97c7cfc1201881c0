/** The last moment that ECMAScript, and so every client in it, can show; in epoch milliseconds. */
export const LAST_MOMENT = 8_640_000_000_000_000;

/** Of a moment behind it, in words that follow the name of the field. */
export const BEYOND_DATES = `is beyond the range of dates: the last moment is ${LAST_MOMENT}, in epoch milliseconds`;

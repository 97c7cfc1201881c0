const FIRST_MS = 5_000;
const FACTOR = 3;
const MOST_MS = 300_000;

/** The pause after a failed try: 5 s, 15 s, 45 s, 135 s, then 5 minutes. Mail servers that greylist ask for minutes. */
export const retryDelayMs = (tries: number): number => Math.min(FIRST_MS * FACTOR ** (tries - 1), MOST_MS);

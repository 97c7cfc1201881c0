const UNITS: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Fifty-three weeks, the longest that anything may take. */
export const MAX_DURATION_MS = 53 * 604_800_000;

/**
 * Milliseconds of a duration as pipelines write them: `90s`, `10m`, `1h 30m`,
 * `1h30m`, in w d h m s. Seconds alone are at least 10; they may otherwise only
 * follow a greater unit. Undefined for anything else, milliseconds included.
 */
export function parseDuration(text: string): number | undefined {
  return /^[1-9]s$/.test(text) || /^[1-9]\d*s./.test(text) ? undefined : parseInterval(text);
}

/** The same for pauses and for times that people are given, which may be a few seconds. */
export function parseInterval(text: string): number | undefined {
  if (!/^[1-9]\d*[smhdw](?: ?\d+[smhdw])*$/.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g)) total += Number(count) * (UNITS[unit ?? ""] ?? 0);
  return bounded(total);
}

const bounded = (ms: number): number | undefined => (ms <= MAX_DURATION_MS ? ms : undefined);

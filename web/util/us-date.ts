/** `03/04/2026` of milliseconds or an ISO date, in UTC, as the API writes the ends of tokens. */
export function formatUsDate(at: number | string): string {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${date.getUTCFullYear()}`;
}

/** The milliseconds at the end of the day `03/04/2026` in UTC. Undefined if there is no such day. */
export function parseUsDate(text: string): number | undefined {
  const [, month, day, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text.trim()) ?? [];
  if (month === undefined || day === undefined || year === undefined) return undefined;
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), 23, 59, 59, 999);
  return formatUsDate(at) === text.trim() ? at : undefined;
}

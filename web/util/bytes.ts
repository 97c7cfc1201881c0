const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** A rounded value and its binary unit: 512 B, 1.4 KiB, 12 MiB. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  // Above 1023.5 the rounded value would have four digits.
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const isShort = unit > 0 && value < 9.95;
  return `${isShort ? value.toFixed(1) : Math.round(value)} ${UNITS[unit] ?? ""}`;
}

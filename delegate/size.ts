/**
 * Numbers of bytes as people write them: `1 GiB`, `512KiB`, `1000`. Without other imports: the launcher needs it too.
 */

const UNITS = [
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
] as const;

/** Undefined when it is no whole number with one of the units or without. */
export function parseSize(text: string): number | undefined {
  const [, digits = "", name = ""] = /^(\d{1,15}) ?([KMG]iB)?$/.exec(text) ?? [];
  if (digits === "") return undefined;
  const bytes = Number(digits) * (UNITS.find((unit) => unit.name === name)?.bytes ?? 1);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The number in the largest unit that divides it: `1 GiB`, `1500 bytes`. */
export function formatSize(bytes: number): string {
  const unit = UNITS.find((one) => bytes >= one.bytes && bytes % one.bytes === 0);
  return unit ? `${bytes / unit.bytes} ${unit.name}` : `${bytes} bytes`;
}

const MAX_NAMES = 5;

/** Names as a message lists them: there may be hundreds. */
export function listed(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}

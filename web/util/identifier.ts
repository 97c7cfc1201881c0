/** An identifier for a name, as the API takes it: letters, digits and `_`, not beginning with a digit. */
export const identifierFor = (name: string): string =>
  name
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9_]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .replace(/^(\d)/, "_$1")
    .slice(0, 128);

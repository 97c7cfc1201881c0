/** Credentials of the caller. Pipelines cannot read them. */
const CREDENTIAL_HEADERS = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

/**
 * The headers of a delivery, for `<+trigger.header["X-Event"]>`. Header names are case-insensitive, expressions are
 * not, so each header is stored in lower case and as `X-Event`.
 */
export function deliveredHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const delivered = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || CREDENTIAL_HEADERS.has(name)) return [];
    const text = Array.isArray(value) ? value.join(", ") : value;
    return [
      [name, text],
      [titleCase(name), text],
    ] as const;
  });
  return Object.fromEntries(delivered);
}

const titleCase = (name: string): string =>
  name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("-");

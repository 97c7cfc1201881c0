export type CurlRequest = {
  readonly method: string;
  /** With the origin. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or a value to send as JSON. */
  readonly body?: unknown;
};

/** The request as a command for a shell, with the API key in a variable. */
export function formatCurl({ method, url, headers = {}, body }: CurlRequest): string {
  const isText = typeof body === "string";
  const type = body === undefined || isText ? {} : { "content-type": "application/json" };
  const parts = [
    method === "GET" ? "curl" : `curl -X ${method}`,
    `-H "x-api-key: $KEY"`,
    ...Object.entries({ ...type, ...headers }).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // Plain -d would read a file for a body that begins with @, and drop line breaks.
    ...(body === undefined ? [] : [`--data-raw ${quote(isText ? body : JSON.stringify(body, undefined, 2))}`]),
    quote(url),
  ];
  return parts.join(" \\\n  ");
}

/** A word of a POSIX shell in which nothing is expanded. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

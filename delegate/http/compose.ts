/** Puts the secrets into a request, and checks what only the composed values show. */
import { validateHeaderValue } from "node:http";
import { type HttpTask, MAX_REQUEST_BODY, MAX_REQUEST_LINE, OWN_HEADERS } from "../../protocol/work/http.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";

export type ComposedRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** Throws Unreached with the reason `Request`; its message contains no value. */
export function composeRequest(
  { method, url, headers, body }: HttpTask,
  secretValues: readonly string[],
): ComposedRequest {
  const compose = (parts: HttpTask["url"]): string =>
    parts.map((part) => (typeof part === "string" ? part : (secretValues[part] ?? ""))).join("");
  const composedBody = body && compose(body);
  if (composedBody !== undefined && Buffer.byteLength(composedBody) > MAX_REQUEST_BODY)
    throw invalid(`The body has more than ${MAX_REQUEST_BODY / 1024} KiB.`);
  return {
    method,
    url: parseUrl(compose(url)),
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, checkHeader(name, compose(value))])),
    body: composedBody,
  };
}

const invalid = (message: string): Unreached => new Unreached("Request", message);

function parseUrl(text: string): URL {
  if (text.length > MAX_REQUEST_LINE) throw invalid(`The URL has more than ${MAX_REQUEST_LINE} characters.`);
  const url = URL.parse(text.trim());
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw invalid("The URL is no http or https URL.");
  if (url.username !== "" || url.password !== "")
    throw invalid("The URL contains a user name or a password. Use the header Authorization instead.");
  return url;
}

function checkHeader(name: string, value: string): string {
  if (OWN_HEADERS.has(name.toLowerCase())) throw invalid(`The header '${name}' is set by the delegate.`);
  if (value.length > MAX_REQUEST_LINE)
    throw invalid(`The header '${name}' has more than ${MAX_REQUEST_LINE} characters.`);
  try {
    validateHeaderValue(name, value);
  } catch {
    throw invalid(`The header '${name}' has a character that HTTP does not allow, as a line break.`);
  }
  return value;
}

/** Sends a composed request, and follows its redirects. */
import { sendRequest, type ReceivedResponse } from "../../src/platform/outgoing/get.ts";
import { allowAnyAddress } from "../../src/platform/outgoing/reach.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";
import { MAX_RESPONSE_BODY } from "../../protocol/work/http.ts";
import type { ComposedRequest } from "./compose.ts";

type SendOptions = { readonly signal: AbortSignal; readonly log: (line: string) => void };

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Requests of these methods change nothing, so that they may be repeated at another URL. */
const FOLLOWING_METHODS = new Set(["GET", "HEAD"]);
/** Headers that are sent unless the step sets them. */
const DEFAULT_HEADERS = { accept: "*/*", "user-agent": "railhead" };

/**
 * Redirects of GET and HEAD are followed, at most five; another host gets none of the step's headers, which may be
 * credentials. All addresses are allowed: the operator of the delegate controls its network. Rejects with Unreached.
 */
export async function sendRequests(request: ComposedRequest, options: SendOptions): Promise<ReceivedResponse> {
  let { url, headers } = request;
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendOnce({ ...request, url, headers }, options);
    const { location } = response.headers;
    if (!REDIRECTS.has(response.status) || !FOLLOWING_METHODS.has(request.method) || location === undefined)
      return response;
    const next = parseLocation(location, url);
    options.log(`< ${response.status}: redirect to ${next.href}`);
    if (redirects === MAX_REDIRECTS)
      throw new Unreached("Redirects", `${url.host} redirects more than ${MAX_REDIRECTS} times.`);
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

function sendOnce(
  { method, url, headers, body }: ComposedRequest,
  { signal, log }: SendOptions,
): Promise<ReceivedResponse> {
  const names = Object.keys(headers);
  const size = body === undefined ? "" : `, ${Buffer.byteLength(body)} bytes`;
  log(`> ${method} ${url.href}${size}${names.length === 0 ? "" : `, headers ${names.join(", ")}`}`);
  const given = new Set(names.map((name) => name.toLowerCase()));
  const defaults = Object.entries(DEFAULT_HEADERS).filter(([name]) => !given.has(name));
  return sendRequest({ mayReach: allowAnyAddress, signal, maxBody: MAX_RESPONSE_BODY }, url, {
    method,
    headers: { ...Object.fromEntries(defaults), ...headers },
    body,
  });
}

function parseLocation(location: string, from: URL): URL {
  const next = URL.parse(location, from.href);
  const isWeb = next?.protocol === "https:" || next?.protocol === "http:";
  if (!isWeb || next.username !== "" || next.password !== "")
    throw new Unreached("Redirect", `${from.host} redirects to no http or https URL that can be used.`);
  if (from.protocol === "https:" && next.protocol !== "https:")
    throw new Unreached("Redirect", `${from.host} redirects from https to http, which is not followed.`);
  return next;
}

/**
 * GET for addresses that users configure, with limits on time and bytes. Every address, also that of a redirect, is
 * checked when the connection is opened, and only the checked address is used. Credentials stay with their origin.
 */
import { lookup } from "node:dns";
import { request as plain, type IncomingMessage, type RequestOptions } from "node:http";
import { request as secure } from "node:https";
import { isIP } from "node:net";
import { judgedLookup } from "./judged-lookup.ts";
import { toUnreached, Unreached } from "./unreached.ts";
import { withoutBrackets, type MayReach } from "./reach.ts";

/** `url` is the address of the answer, after redirects. */
export type OutgoingResponse = {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** `body` has the bytes as UTF-8. */
export type ReceivedResponse = OutgoingResponse & { readonly bytes: Buffer };

export type GetOptions = {
  readonly mayReach: MayReach;
  /** Aborts all requests; the limit on their total time. */
  readonly signal: AbortSignal;
  /** Largest answer in bytes; 64 KiB by default. */
  readonly maxBody?: number;
  /** The name service; the system's by default, replaced in tests. */
  readonly lookup?: typeof lookup;
};

/** Enough for a token or an error message. */
const MAX_BODY = 64 * 1024;
const MAX_HEADERS = 16 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Rejects with Unreached, whose message is for the user who configured the address. */
export const outgoingGet =
  (options: GetOptions) =>
  async (text: string, headers: Readonly<Record<string, string>> = {}): Promise<OutgoingResponse> => {
    let url = webAddress(text);
    let sent = headers;
    for (let hops = 0; ; hops += 1) {
      const got = await sendRequest(options, url, { method: "GET", headers: sent });
      const { location } = got.headers;
      if (!REDIRECTS.has(got.status) || location === undefined) return got;
      if (hops === MAX_REDIRECTS) throw new Unreached("Redirects", `${url.host} redirects more than ${hops} times.`);
      const next = webAddress(location, url);
      if (url.protocol === "https:" && next.protocol !== "https:")
        throw new Unreached("Redirect", `${url.host} redirects from https to http, which is not followed.`);
      if (next.origin !== url.origin) sent = {};
      url = next;
    }
  };

/** Follows up to five redirects and returns the answer whatever its status. */
export type OutgoingGet = ReturnType<typeof outgoingGet>;

function webAddress(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (isWeb && url.username === "" && url.password === "") return url;
  const from = base ? `${base.host} leads to` : "It is";
  throw new Unreached("Address", `${from} no http or https address that can be used.`);
}

export type OutgoingRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly tls?: TlsIdentity | undefined;
};

/** The certificates that the server's one is checked with, the system's by default, and the client's own; all PEM. */
export type TlsIdentity = {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
};

/**
 * Sends one request and returns its answer, whatever the status: redirects are not followed. Rejects with Unreached.
 */
export function sendRequest(
  options: GetOptions,
  url: URL,
  { method, headers, body, tls = {} }: OutgoingRequest,
): Promise<ReceivedResponse> {
  const { mayReach, signal } = options;
  const host = withoutBrackets(url.hostname);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const judge = (address: string): Unreached | undefined =>
    mayReach({ host, address, port }) ? undefined : new Unreached("Address not allowed", notAllowed(url.host));
  // A host that is an IP address is not resolved.
  const refused = isIP(host) === 0 ? undefined : judge(host);
  if (refused) return Promise.reject(refused);
  const settings: RequestOptions & TlsIdentity & { readonly rejectUnauthorized: true } = {
    method,
    headers: { accept: "application/json", "accept-encoding": "identity", ...headers },
    // A new connection: a reused one might lead to another address.
    agent: false,
    lookup: judgedLookup(judge, options.lookup ?? lookup),
    maxHeaderSize: MAX_HEADERS,
    ...tls,
    rejectUnauthorized: true,
    signal,
  };
  return new Promise((settle, reject) => {
    const fail = (error: unknown): void => reject(toUnreached(error, url.host, signal));
    if (signal.aborted) return fail(signal.reason);
    const request = (url.protocol === "https:" ? secure : plain)(url, settings, (response) => {
      read(response, url.host, options.maxBody ?? MAX_BODY).then((bytes) => {
        const { statusCode: status = 0, headers: received } = response;
        settle({ url: url.href, status, headers: received, bytes, body: bytes.toString("utf8") });
      }, fail);
    });
    request.on("error", fail);
    request.end(body);
  });
}

const notAllowed = (host: string): string =>
  `The server may not connect to ${host}, since its address is not public; test it from a delegate, or allow it with RAILHEAD_ALLOW_PRIVATE_ADDRESSES.`;

async function read(response: IncomingMessage, host: string, maxBody: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) {
      response.destroy();
      throw new Unreached("Answer too large", `${host} answered with more than ${maxBody / 1024} KiB.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

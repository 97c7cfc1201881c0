/**
 * Files of the release that are equal for all clients: read at the first request and cached, identified by an ETag,
 * compressed once for each encoding.
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

type Encoding = "br" | "gzip" | "identity";

/** Quality 6: a better compression would save a tenth and cost the first reader a second. */
const COMPRESS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
  identity: (bytes) => Promise.resolve(bytes),
};

export type KeptAnswer = {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the client has the current version. */
  readonly body: Buffer | undefined;
};

/** The answer to a request with these headers. */
export type KeptFile = (headers: IncomingHttpHeaders) => Promise<KeptAnswer>;

export function keepFile(read: () => Promise<Buffer>): KeptFile {
  const bytes = once(read);
  const tag = once(async () => contentTag(await bytes()));
  const encoded = {
    br: once(async () => COMPRESS.br(await bytes())),
    gzip: once(async () => COMPRESS.gzip(await bytes())),
    identity: bytes,
  };
  return async (asked) => {
    const etag = await tag();
    const headers = { etag, "cache-control": "no-cache", vary: "accept-encoding" };
    if (isKnown(asked["if-none-match"], etag)) return { status: 304, headers, body: undefined };
    const encoding = encodingFor(asked["accept-encoding"]);
    const told = encoding === "identity" ? headers : { ...headers, "content-encoding": encoding };
    return { status: 200, headers: told, body: await encoded[encoding]() };
  };
}

/** Shares one promise among all callers; after a failure, the next call tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

/** A weak ETag, as answers with the content may differ in their encoding or in an envelope. */
export const contentTag = (content: string | Buffer): string =>
  `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;

/** Weak comparison (RFC 9110 section 13.1.2). */
export function isKnown(header: string | undefined, etag: string): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  return header?.trim() === "*" || (header?.split(",").some((tag) => opaque(tag) === opaque(etag)) ?? false);
}

/** The smallest encoding that the header accepts (RFC 9110 section 12.5.3); the plain file is always acceptable. */
export function encodingFor(header = ""): Encoding {
  const weights = new Map(
    header.split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((one) => one.startsWith("q="))?.slice(2) ?? "1";
      return [name, Number(weight)] as const;
    }),
  );
  const isTaken = (name: string): boolean => (weights.get(name) ?? weights.get("*") ?? 0) > 0;
  return (["br", "gzip"] as const).find(isTaken) ?? "identity";
}

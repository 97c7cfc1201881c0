/**
 * Contents of any size, sealed piece by piece with AES-256-GCM. Each piece authenticates whose it is, its place
 * and whether it is the last, so that pieces cannot be moved, swapped, left out or cut off (the STREAM
 * construction of Hoang, Reyhanitabar, Rogaway and Vizár, CRYPTO 2015).
 *
 * A key seals one content only: the nonce is the piece's number and never comes twice under it.
 * Layout of a sealed piece: 1 byte version, 16 bytes tag, ciphertext.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { forget } from "../forget.ts";

const VERSION = 1;
const HEAD = 17;

/** Bytes of every piece but the last. */
export const CHUNK = 256 * 1024;

/** Bytes in the order in which they stand; together `size` many. */
export type Content = { readonly size: number; readonly pages: readonly Buffer[] };

/** The text as UTF-8, on one page. */
export const contentOf = (text: string): Content => {
  const bytes = Buffer.from(text, "utf8");
  return { size: bytes.length, pages: [bytes] };
};

/** A key for one content. */
export const newDataKey = (): Buffer => randomBytes(32);

/** How many pieces a content of `size` bytes has; an empty one has one. */
export const chunkCount = (size: number): number => Math.max(1, Math.ceil(size / CHUNK));

/**
 * `identity` names the record of the content. Chunks are created one at a time, on request, and each is overwritten
 * by the next: a caller that needs one longer copies it.
 */
export function* sealChunks(key: Buffer, identity: string, content: Content): Generator<Buffer> {
  const count = chunkCount(content.size);
  const plain = Buffer.alloc(Math.min(CHUNK, content.size));
  const next = reader(content.pages);
  try {
    for (let nth = 0; nth < count; nth += 1) {
      const filled = next(plain);
      const sealed = sealOne(key, { identity, nth, count }, plain.subarray(0, filled));
      try {
        yield sealed;
      } finally {
        forget(sealed);
      }
    }
  } finally {
    forget(plain);
  }
}

type Place = { readonly identity: string; readonly nth: number; readonly count: number };

/** The caller overwrites the bytes. Throws when the key, the identity, the place or a byte differs. */
export function openChunk(key: Buffer, { identity, nth, count }: Place, sealed: Buffer): Buffer {
  if (sealed[0] !== VERSION) throw new Error("the sealed piece has an unknown version");
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(nth), { authTagLength: 16 })
    .setAAD(bound(identity, nth, count))
    .setAuthTag(sealed.subarray(1, HEAD));
  const plain = decipher.update(sealed.subarray(HEAD));
  try {
    decipher.final(); // In this mode it yields no bytes, and throws when something is not as it was sealed.
  } catch (error) {
    forget(plain);
    throw error;
  }
  return plain;
}

function sealOne(key: Buffer, { identity, nth, count }: Place, plain: Buffer): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(nth)).setAAD(bound(identity, nth, count));
  const body = cipher.update(plain);
  cipher.final(); // In this mode it yields no bytes.
  const sealed = Buffer.concat([Buffer.from([VERSION]), cipher.getAuthTag(), body]);
  forget(body);
  return sealed;
}

function nonceOf(nth: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(nth, 8);
  return nonce;
}

const bound = (identity: string, nth: number, count: number): Buffer =>
  Buffer.from(`${identity}:${nth}:${nth === count - 1 ? "last" : "more"}`);

/** Fills a buffer with the next bytes of the pages; returns their number. */
function reader(pages: readonly Buffer[]): (into: Buffer) => number {
  let [page, at] = [0, 0];
  return (into) => {
    let filled = 0;
    while (filled < into.length) {
      const from = pages[page];
      if (!from) break;
      const copied = from.copy(into, filled, at);
      filled += copied;
      at += copied;
      if (at >= from.length) [page, at] = [page + 1, 0];
    }
    return filled;
  };
}

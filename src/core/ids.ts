/**
 * Ids. In the database an id is a UUIDv7; on the wire it is the same 16 bytes
 * as 22 characters of base64url without padding (it may begin with `-` or `_`).
 */

/** A UUID in its 36-character text form, as PostgreSQL prints it. */
export type Uuid = string & { readonly __brand: "Uuid" };

/** Creates ids; a parameter, so that tests can predict them. */
export type NewId = () => Uuid;

// 22 characters carry 132 bits: the last four bits are zero, so that an id has one spelling only.
const WIRE = /^[A-Za-z0-9_-]{21}[AQgw]$/;

const ALPHABET = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
/** Positions of the 32 hexadecimal digits in the text of a UUID, and one position beyond its end, which counts as 0. */
const DIGITS = Uint8Array.from([...Array(37).keys()].filter((at) => ![8, 13, 18, 23].includes(at)));
/** The value of a hexadecimal digit by its character code. */
const VALUES = new Uint8Array(128);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;
const scratch = Buffer.alloc(22);

/**
 * `01a1fc75-fee1-…` → 22 characters of base64url: three hexadecimal digits become two characters. Written without
 * buffers, because lists of a hundred ids are common and two buffers for each took a tenth of the request.
 */
export function toWire(id: Uuid): string {
  const digit = (n: number): number => VALUES[id.charCodeAt(DIGITS[n] as number) | 0] as number;
  for (let n = 0, at = 0; at < 22; n += 3, at += 2) {
    const bits = (digit(n) << 8) | (digit(n + 1) << 4) | digit(n + 2);
    scratch[at] = ALPHABET[bits >> 6] as number;
    scratch[at + 1] = ALPHABET[bits & 63] as number;
  }
  return scratch.toString("latin1");
}

/** Parses 22 characters of base64url; undefined for any other text. */
export function fromWire(text: string): Uuid | undefined {
  if (!WIRE.test(text)) return undefined;
  const hex = Buffer.from(text, "base64url").toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid;
}

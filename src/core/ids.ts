/**
 * Ids. In the database an id is a UUIDv7; on the wire it is the same 16 bytes
 * as 22 characters of base64url without padding (it may begin with `-` or `_`).
 */

/** A UUID in its 36-character text form, as PostgreSQL prints it. */
export type Uuid = string & { readonly __brand: "Uuid" };

/** Makes ids; injected so that tests can foresee them. */
export type NewId = () => Uuid;

const WIRE = /^[A-Za-z0-9_-]{22}$/;

/** `01a1fc75-fee1-…` → 22 characters of base64url. */
export function toWire(id: Uuid): string {
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

/** The id behind 22 characters of base64url; undefined when the text is not one. */
export function fromWire(text: string): Uuid | undefined {
  if (!WIRE.test(text)) return undefined;
  const hex = Buffer.from(text, "base64url").toString("hex");
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  // 22 characters carry 132 bits: two spellings may decode to one id, only one of them is ours.
  return toWire(id as Uuid) === text ? (id as Uuid) : undefined;
}

/**
 * One spelling per user. Compatibility forms (full-width letters, ligatures, the Kelvin sign) are folded before
 * lower-casing, so that another spelling of an address is not a second user (RFC 8264 sections 5.2.1 and 5.2.3 do the
 * same for user names).
 */
import { problem } from "../problems.ts";

/** Normalizes twice, since lower-casing may produce characters that compose again: İ becomes i and a combining dot. */
export const folded = (text: string): string => text.normalize("NFKC").toLowerCase().normalize("NFKC");

// Printable ASCII without address separators. Letters of other scripts look like Latin ones, but users have to be
// distinguishable in a list, and directories write addresses in ASCII.
const EMAIL =
  /^[^\s@<>()[\],;:\\"\p{Cc}]{1,64}@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/u;
const MAX_EMAIL = 254;

/** Returns the folded address; undefined if it is not an e-mail address in ASCII. */
export function parseEmail(text: string): string | undefined {
  if (text.length > MAX_EMAIL) return undefined;
  const email = folded(text.trim());
  return email.length <= MAX_EMAIL && /^[\x21-\x7e]+$/.test(email) && EMAIL.test(email) ? email : undefined;
}

/** The address as it is stored. Throws `identity.bad_email`. */
export function requireEmail(text: string): string {
  const email = parseEmail(text);
  if (email === undefined) throw problem("identity.bad_email", [text.slice(0, 254)]);
  return email;
}

const MAX_NAME = 256;

/** A name that a list of users can show. Throws `identity.bad_name`. */
export function requireName(text: string, what = "name"): string {
  const name = text.normalize("NFC").trim();
  // Control characters, Unicode line breaks, and text direction marks.
  if (name === "" || name.length > MAX_NAME || /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/u.test(name))
    throw problem("identity.bad_name", [what]);
  return name;
}

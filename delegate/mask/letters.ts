/**
 * Which bytes of an output count when secrets are looked for. Passed over are line breaks, which programs and pipes put
 * into the middle of values; control sequences of terminals, which `grep --color` puts there; and NUL, which stands
 * between the letters of UTF-16. Everything else is a letter. Secrets are cut down in the same way before they are looked for.
 */
export const BREAK = 1;
export const NUL = 2;
export const ESCAPE = 3;

/** What each byte is; 0 for a letter. */
export const KIND = new Uint8Array(256);
KIND[0x0a] = KIND[0x0d] = BREAK;
KIND[0x00] = NUL;
KIND[0x1b] = ESCAPE;

export const ESC = 0x1b;
/** With ESC before it: a control sequence begins. */
export const BRACKET = 0x5b;
/** Whether the byte belongs to a control sequence that goes on after it (ECMA-48, section 5.4). */
export const isParameterByte = (byte: number): boolean => byte >= 0x20 && byte <= 0x3f;
/** Whether the byte is the last one of a control sequence. */
export const isFinal = (byte: number): boolean => byte >= 0x40 && byte <= 0x7e;

/** Between two letters of a secret so many bytes are passed over at most, and what the secret itself has there. */
export const MAX_GAP = 64;

/** Without its last byte where the text ends, or something else comes first. */
const PASSED_OVER = new RegExp(String.raw`\x1b\[[\x20-\x3f]*[\x40-\x7e]?|[\0\r\n]+`, "g");

/** The letters of a byte text (latin1). */
export const lettersOf = (text: string): string => text.replaceAll(PASSED_OVER, "");

/** Bytes in a row that are passed over in a byte text (latin1), at most. */
export function longestGap(text: string): number {
  let [longest, start, end] = [0, 0, 0];
  for (const { 0: passed, index } of text.matchAll(PASSED_OVER)) {
    if (index !== end) start = index;
    end = index + passed.length;
    longest = Math.max(longest, end - start);
  }
  return longest;
}

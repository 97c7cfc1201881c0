/**
 * Letters are the bytes that the search for secrets compares. It skips line breaks, which programs and pipes insert
 * into values; control sequences of terminals, which `grep --color` inserts; and NUL, which separates the letters
 * of UTF-16. All other bytes are letters. Secrets are reduced to their letters before the search.
 */
export const BREAK = 1;
export const NUL = 2;
export const ESCAPE = 3;

/** The kind of each byte; 0 for a letter. */
export const KIND = new Uint8Array(256);
KIND[0x0a] = KIND[0x0d] = BREAK;
KIND[0x00] = NUL;
KIND[0x1b] = ESCAPE;

export const ESC = 0x1b;
/** With ESC before it: a control sequence begins. */
export const BRACKET = 0x5b;
/** Whether the byte is a parameter or intermediate byte of a control sequence (ECMA-48, section 5.4). */
export const isParameterByte = (byte: number): boolean => byte >= 0x20 && byte <= 0x3f;
/** Whether the byte is the last one of a control sequence. */
export const isFinal = (byte: number): boolean => byte >= 0x40 && byte <= 0x7e;

/** Maximum of skipped bytes between two letters of a secret, besides the secret's own. */
export const MAX_GAP = 64;

/** Without its last byte where the text ends, or something else comes first. */
const PASSED_OVER = new RegExp(String.raw`\x1b\[[\x20-\x3f]*[\x40-\x7e]?|[\0\r\n]+`, "g");

/** The letters of a byte text (latin1). */
export const lettersOf = (text: string): string => text.replaceAll(PASSED_OVER, "");

/** Length of the longest run of skipped bytes in a byte text (latin1). */
export function longestGap(text: string): number {
  let [longest, start, end] = [0, 0, 0];
  for (const { 0: passed, index } of text.matchAll(PASSED_OVER)) {
    if (index !== end) start = index;
    end = index + passed.length;
    longest = Math.max(longest, end - start);
  }
  return longest;
}

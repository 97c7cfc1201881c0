/** Texts that count as a number wherever a value has the type Number. */

/**
 * The grammar of numbers in JSON (RFC 8259, section 6), with bounds on the digits. It has no sign `+`, no spaces, no
 * other base and no leading zero, which Bash reads as octal; nothing that it takes is a name or a subscript to Bash.
 */
const DECIMAL = /^-?(?:0|[1-9][0-9]{0,63})(?:\.[0-9]{1,64})?(?:[eE][+-]?[0-9]{1,3})?$/;
const LEADING_ZERO = /^-?0[0-9]/;

/** What is wrong with the text of a value of the type Number, as the end of a sentence; undefined when nothing is. */
export function numberFault(text: string): string | undefined {
  if (DECIMAL.test(text) && Number.isFinite(Number(text))) return undefined;
  if (LEADING_ZERO.test(text)) return "its type is Number and its value has a leading zero, which Bash reads as octal";
  return "its type is Number and its value is not a decimal number such as 3, -0.5 or 1e3";
}

/** The number of a text; its digits where a double cannot hold it. */
export function numberOf(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? number : text;
}

const INTEGER = /^-?(?:0|[1-9][0-9]{0,18})$/;

/** What Bash calculates with as it is written: a decimal integer of 64 bits without a leading zero, which is octal. */
export const isInteger = (text: string): boolean =>
  INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

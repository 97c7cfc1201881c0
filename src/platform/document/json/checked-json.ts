import { scanJson, describeDuplicateKey, type JsonScan } from "./json-scan.ts";
import { problem } from "../problems.ts";
import { syntaxProblem } from "../text.ts";

/**
 * A JSON payload from outside, as JSON.parse gives it, but for two things. A key that an object has twice is refused:
 * other programs that saw the same text may have kept the other value. A number that cannot be held exactly is the text
 * of its digits (`"12345678901234567890"`, `"1e400"`). Size (bytes) and depth are checked first, with one pass over the
 * text. A key `__proto__` is an own property of its object like any other; copies of payloads must define own
 * properties (spread, Object.entries) and never assign them. Throws `document.too_large`, `document.too_complex` or
 * `document.bad_payload`.
 */
export function checkedJson(text: string, limits: { readonly maxBytes: number; readonly maxDepth: number }): unknown {
  if (Buffer.byteLength(text) > limits.maxBytes) throw problem("document.too_large", [String(limits.maxBytes)]);
  const scan = scanJson(text, limits.maxDepth);
  if (scan.tooDeep !== undefined) {
    const message = `Values are nested deeper than ${limits.maxDepth} levels`;
    throw syntaxProblem("document.too_complex", { text, offset: scan.tooDeep, message });
  }
  const twice = describeDuplicateKey(text, scan);
  if (twice !== undefined) throw problem("document.bad_payload", [twice]);
  let value: unknown;
  try {
    value = exactly(text, scan.oddNumbers);
  } catch (cause) {
    // Not kept as the cause: it quotes the payload, and causes are logged.
    throw problem("document.bad_payload", [text.trim() === "" ? "The body is empty" : reasonOf(cause)]);
  }
  if (SUSPECT.test(text) && !isText(value))
    throw problem("document.bad_payload", ["It has half of a character in it, an escape such as \\ud800 alone"]);
  return value;
}

/** An escape that may be a lone surrogate. Only texts with such an escape need the check of all strings. */
const SUSPECT = /\\u[dD][89a-fA-F]/;

/** Whether all texts, keys included, are whole characters: the database keeps no others. */
function isText(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && isText(part));
}

/** A payload that was checked when it came. */
export const parseCheckedJson = (text: string): unknown => exactly(text, scanJson(text, Infinity).oddNumbers);

/** Parses once more, with quotes around what has to stay text: a reviver would cost ten times as much. */
function exactly(text: string, oddNumbers: JsonScan["oddNumbers"]): unknown {
  const parsed: unknown = JSON.parse(text);
  const inexact = oddNumbers.filter(([from, to]) => !isExact(text.slice(from, to)));
  if (inexact.length === 0) return parsed;
  const pieces: string[] = [];
  let done = 0;
  for (const [from, to] of inexact) {
    pieces.push(text.slice(done, from), `"${text.slice(from, to)}"`);
    done = to;
  }
  return JSON.parse(pieces.join("") + text.slice(done));
}

/** Whether the number, written out again, has the same digits at the same places. `source` is a number as in JSON. */
export function isExact(source: string): boolean {
  const written = String(Number(source));
  // Digits that were all written out are not shown with an exponent.
  if (/^-?\d+$/.test(source) && written.includes("e")) return false;
  return digitsOf(written) === digitsOf(source);
}

/** Digits without zeros around them, and the power of ten of the last one. */
function digitsOf(number: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  // "Infinity" has none.
  if (whole === "") return "";
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = withoutZeros(digits);
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Without those at the end; a pattern would look at each run of zeros again and again. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

/** What JSON.parse found wrong, without the part of the body that it quotes. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  if (message.startsWith("Unexpected end")) return "It ends in the middle of a value";
  return /^(.*?)(?:, "|, \.\.\.| in JSON| JSON|$)/s.exec(message)?.[1] || "It is not JSON";
}

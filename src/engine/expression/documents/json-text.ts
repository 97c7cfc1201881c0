/** Reads JSON texts that come from outside. */
import type { Json } from "../../model.ts";
import { ExpressionError } from "../error.ts";
import { MAX_DOCUMENT_DEPTH } from "../limits.ts";

/** The type library does not know the third argument of a reviver, the text of the value, yet. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Makes the error that says what is wrong with an argument. Its message never quotes the argument. */
export type Refuse = (message: string) => ExpressionError;

/**
 * The value of a JSON text. A number that a double cannot hold exactly is the text of its digits, as in the payload of
 * a trigger. A member `__proto__` is an own property like any other.
 */
export function parseJson(text: string, refuse: Refuse, spend: (units: number) => void): Json {
  if (depthOf(text) > MAX_DOCUMENT_DEPTH) throw refuse(`nests deeper than ${MAX_DOCUMENT_DEPTH}`);
  try {
    return JSON.parse(text, INEXACT.test(text) ? paying(spend) : undefined) as Json;
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    // The reason of the runtime quotes the text, which may hold what no message may show.
    throw refuse("is not JSON");
  }
}

/** What may be a number with an exponent, or with more digits than are exact in any case. To ask for each value takes ten times as long. */
const INEXACT = /\d[eE][-+]?\d|[\d.]{16}/;
const UNITS_PER_VALUE = 2;

const paying =
  (spend: (units: number) => void): Reviver =>
  (key, value, context?: { readonly source?: string }) => {
    spend(UNITS_PER_VALUE);
    return exactly(key, value, context ?? {});
  };

/** The most brackets inside each other, apart from those in strings. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "[" || char === "{") most = Math.max(most, ++depth);
    else if (char === "]" || char === "}") depth--;
  }
  return most;
}

/** A decimal number of so many digits is a double's, written out again, in any case. */
const EXACT_DIGITS = 15;
/** Longer ones are texts, whatever their digits. */
const MAX_NUMBER_CHARS = 40;

function exactly(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  if (source.length > MAX_NUMBER_CHARS || !Number.isFinite(value)) return source;
  const mantissa = source.split(/e/i, 1)[0] ?? "";
  const digits = mantissa.replace(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
  const isLost = value === 0 && digits !== "";
  return digits.length > EXACT_DIGITS || isLost ? source : value;
}

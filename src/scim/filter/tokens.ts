/** The tokens of filters and paths. Their length is checked first. */
import { problem } from "../problems.ts";
import type { Literal } from "./syntax.ts";

export type Token =
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "literal"; readonly value: Literal }
  | { readonly kind: "(" | ")" | "[" | "]" }
  /** The text after a closing bracket: `.value`. */
  | { readonly kind: "sub"; readonly text: string };

const MAX_LENGTH = 4_096;

// Sticky, so that each pattern is tried at one position and the text is read once.
const SPACE = /[ \t\r\n]+/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const NUMBER = /-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?(?![\w.])/y;
/** An attribute's path with its URN, an operator, `not`, `true`. */
const WORD = /(?:urn:[A-Za-z0-9][\w.:-]*:)?(?:\$ref|[A-Za-z][\w-]*)(?:\.(?:\$ref|[A-Za-z][\w-]*))?/iy;
const SUB = /\.(\$ref|[A-Za-z][\w-]*)/y;

const LITERALS: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

export type Complain = (what: string) => Error;
export const badFilter: Complain = (what) => problem("scim.invalid_filter", [what]);
export const badPath: Complain = (what) => problem("scim.invalid_path", [what]);
export const badSort: Complain = (what) => problem("scim.invalid_sort", [what]);

export function tokensOf(source: string, complain: Complain): readonly Token[] {
  if (source.length > MAX_LENGTH) throw complain(`it has more than ${MAX_LENGTH} characters`);
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source) ?? undefined;
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    take(SPACE);
    const next = source[at];
    if (next === undefined) return tokens;
    if (next === "(" || next === ")" || next === "[" || next === "]") {
      tokens.push({ kind: next });
      at += 1;
      continue;
    }
    const sub = take(SUB);
    if (sub) {
      tokens.push({ kind: "sub", text: sub[1] ?? "" });
      continue;
    }
    const quoted = take(STRING);
    const number = quoted ? undefined : take(NUMBER);
    if (quoted || number) {
      tokens.push({ kind: "literal", value: JSON.parse((quoted ?? number)?.[0] ?? "null") as Literal });
      continue;
    }
    const word = take(WORD)?.[0];
    if (word === undefined) throw complain(`there is no sense in it at character ${at + 1}`);
    const literal = LITERALS.get(word.toLowerCase());
    tokens.push(literal === undefined ? { kind: "word", text: word } : { kind: "literal", value: literal });
  }
}

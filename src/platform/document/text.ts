import { linesOf } from "./position/lines.ts";
import { problem } from "./problems.ts";

/** The problems of a text that is not a readable document. */
export type SyntaxProblemCode = "document.not_yaml" | "document.not_json" | "document.too_complex";

type SyntaxFault = {
  readonly text: string;
  readonly offset: number;
  readonly message: string;
  /** The path of the value with the fault, if it is known. */
  readonly path?: string;
};

/** The problem for one place in a text. The message names its line and column. */
export function syntaxProblem(code: SyntaxProblemCode, { text, offset, message, path = "" }: SyntaxFault): Error {
  const { line, column } = linesOf(text)(Math.min(offset, text.length));
  const where = `${path === "" ? "" : `${path}: `}${message} at line ${line}, column ${column}`;
  return problem(code, [where], { faults: [{ path, message, line, column }] });
}

// What YAML calls printable, less the separators that it folds: tab, LF, CR, and everything from space on
// except DEL and C1. NEL (0x85) is printable too but is a line end elsewhere: refused with the others.
export const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * The text of a body, refused when it is too large, is not UTF-8, begins with
 * a byte order mark, or holds characters that no document needs unescaped.
 */
export function readText(input: string | Uint8Array, code: SyntaxProblemCode, maxBytes: number): string {
  const bytes = typeof input === "string" ? Buffer.byteLength(input) : input.byteLength;
  if (bytes > maxBytes) throw problem("document.too_large", [String(maxBytes)]);
  const text = typeof input === "string" ? input : decode(input, code);
  if (text.startsWith("\ufeff")) {
    const message = "A byte order mark is not allowed; save the document as UTF-8 without one";
    throw syntaxProblem(code, { text, offset: 0, message });
  }
  const bad = UNPRINTABLE.exec(text) ?? LONE_SURROGATE.exec(text);
  if (bad)
    throw syntaxProblem(code, {
      text,
      offset: bad.index,
      message: `The character ${codePoint(bad[0])} is not allowed`,
    });
  return text;
}

function decode(bytes: Uint8Array, code: SyntaxProblemCode): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw problem(code, ["The document is not UTF-8"], {
      faults: [{ path: "", message: "The document is not UTF-8" }],
    });
  }
}

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Returns why PostgreSQL and environment variables cannot hold a decoded string; undefined if they can. */
export function textFault(value: string): string | undefined {
  if (value.includes("\0")) return "The character U+0000 is not allowed";
  if (!value.isWellFormed()) return "A lone surrogate is not allowed";
  return undefined;
}

/** Returns why a number cannot be stored as it was written; undefined if it can. */
export function numberFault(value: number): string | undefined {
  if (!Number.isFinite(value)) return "The number is out of range";
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `The number is beyond ${Number.MAX_SAFE_INTEGER}, so not all of its digits can be kept; where a text is meant, write it in quotes`;
  }
  return undefined;
}

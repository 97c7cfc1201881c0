import { stringEnd } from "./json-scan.ts";
import type { Scalar } from "../node.ts";
import { type Path, pathText } from "../position/path.ts";
import { syntaxProblem, textFault, numberFault } from "../text.ts";

const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

/** The tokens of a JSON text, taken one after the other. What is not JSON is thrown as a Problem at its place. */
export function jsonTokens(text: string) {
  let at = 0;

  function space(): void {
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    }
  }

  function fault(offset: number, message: string, path: Path): Error {
    return syntaxProblem("document.not_json", { text, offset, message, path: pathText(path) });
  }

  function unexpected(path: Path, wanted: string): Error {
    if (at >= text.length) return fault(at, `Unexpected end of the document, expected ${wanted}`, path);
    return fault(at, `Unexpected ${JSON.stringify(text[at])}, expected ${wanted}`, path);
  }

  return {
    at: () => at,
    fault,
    unexpected,
    /** Where the next token begins. */
    start(): number {
      space();
      return at;
    },
    end(): void {
      space();
      if (at < text.length) throw unexpected([], "the end of the document");
    },
    /** Goes past `mark` when it is the next token. */
    took(mark: string): boolean {
      space();
      if (text[at] !== mark) return false;
      at += 1;
      return true;
    },
    string(path: Path): string {
      const start = at;
      at = stringEnd(text, start) + 1;
      if (at > text.length) throw fault(start, "The string has no end", path);
      const parsed = parsedString(text.slice(start, at));
      if (parsed === undefined) {
        throw fault(start, "The string has a line break, a tab or an escape that JSON does not know", path);
      }
      const reason = textFault(parsed);
      if (reason) throw fault(start, reason, path);
      return parsed;
    },
    literal(path: Path): Scalar {
      LITERAL.lastIndex = at;
      const [source] = LITERAL.exec(text) ?? [];
      if (source === undefined) throw unexpected(path, "a value");
      const parsed = JSON.parse(source) as Scalar;
      const reason = typeof parsed === "number" ? numberFault(parsed) : undefined;
      if (reason) throw fault(at, reason, path);
      at += source.length;
      return parsed;
    },
  };
}

function parsedString(source: string): string | undefined {
  try {
    return JSON.parse(source) as string;
  } catch {
    return undefined;
  }
}

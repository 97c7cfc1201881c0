import { jsonTokens } from "./json-tokens.ts";
import type { Limits } from "../limits.ts";
import { type DocNode, type Entry, FORBIDDEN_KEYS } from "../node.ts";
import { clip, type Path, pathText } from "../position/path.ts";
import { syntaxProblem } from "../text.ts";

// JSON.parse names a place for some faults only, keeps the last of two equal keys in silence, and
// says nothing of where values stand. Hence a reader of our own; strings and numbers are JSON.parse's.

/** Reads a JSON text whose size has been checked. Throws a Problem with line and column. */
export function readJson(text: string, limits: Limits): DocNode {
  const tokens = jsonTokens(text);
  let nodes = 0;
  const root = value([]);
  tokens.end();
  return root;

  function value(path: Path): DocNode {
    const start = tokens.start();
    nodes += 1;
    if (nodes > limits.maxNodes)
      throw refuse(start, path, `There are more than ${limits.maxNodes} values (limit documentValues)`);
    const first = text[start];
    if (first === "{" || first === "[") {
      if (path.length >= limits.maxDepth) {
        throw refuse(start, path, `Values are nested deeper than ${limits.maxDepth} levels (limit documentDepth)`);
      }
      tokens.took(first);
      if (first === "{") return { kind: "map", start, entries: entries(path) };
      return { kind: "list", start, items: items(path) };
    }
    const scalar = first === '"' ? tokens.string(path) : tokens.literal(path);
    return { kind: "scalar", value: scalar, style: first === '"' ? "double" : "plain", start, end: tokens.at() };
  }

  function items(path: Path): DocNode[] {
    const found: DocNode[] = [];
    if (tokens.took("]")) return found;
    do found.push(value([...path, found.length]));
    while (tokens.took(","));
    if (!tokens.took("]")) throw tokens.unexpected(path, "',' or ']'");
    return found;
  }

  function entries(path: Path): Map<string, Entry> {
    const found = new Map<string, Entry>();
    if (tokens.took("}")) return found;
    do {
      const keyStart = tokens.start();
      if (text[keyStart] !== '"') throw tokens.unexpected(path, "a key in double quotes");
      const key = tokens.string(path);
      const here = [...path, key];
      if (found.has(key)) throw tokens.fault(keyStart, `The key '${clip(key)}' is given twice`, here);
      if (FORBIDDEN_KEYS.has(key)) throw tokens.fault(keyStart, `The key '${key}' is not allowed`, here);
      if (!tokens.took(":")) throw tokens.unexpected(here, "':'");
      found.set(key, { keyStart, node: value(here) });
    } while (tokens.took(","));
    if (!tokens.took("}")) throw tokens.unexpected(path, "',' or '}'");
    return found;
  }

  function refuse(offset: number, path: Path, message: string): Error {
    return syntaxProblem("document.too_complex", { text, offset, message, path: pathText(path) });
  }
}

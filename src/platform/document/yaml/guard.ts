import { CST } from "yaml";
import type { Limits } from "../limits.ts";
import { faultAt } from "../text.ts";

// Indentation and indicators at the beginning of a line open at most that many block collections:
// bounded, they bound the parser's stack. People indent by 2 to 4 columns per level.
const MAX_INDENT = 256;
// `- - - a` and `? a : b` on one line; each opens a collection.
const MAX_INDICATORS = 16;
// `key: value` on an indented line takes eight; comments and blank lines take one or two.
const TOKENS_PER_NODE = 8;

const TAGS = new Set(["!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"]);

/**
 * Watches the tokens of a YAML text on their way to the parser, in constant
 * memory and time per token, and throws a Problem at the first that goes
 * beyond the limits or that we do not take: directives, tags of other schemas.
 */
export function guard(text: string, limits: Limits): (lexeme: string) => void {
  let offset = 0;
  let tokens = 0;
  let aliases = 0;
  let scalars = 0;
  let brackets = 0;
  let flow = 0;
  let indent = 0;
  let indicators = 0;
  let atIndent = true;
  let scalarNext = false;
  let documents = 0;
  let content = false;

  const refuse = (code: "document.too_complex" | "document.not_yaml", message: string) =>
    faultAt(code, text, offset, message);

  const structure = (lexeme: string, type: string): void => {
    switch (type) {
      case "newline":
        indent = 0;
        indicators = 0;
        atIndent = true;
        break;
      case "space":
        if (atIndent) indent += lexeme.length;
        break;
      case "seq-item-ind":
      case "explicit-key-ind":
      case "map-value-ind":
        if (atIndent) indent += lexeme.length;
        if (flow === 0) indicators += 1;
        content = true;
        break;
      case "flow-seq-start":
      case "flow-map-start":
        flow += 1;
        atIndent = false;
        content = true;
        break;
      case "flow-seq-end":
      case "flow-map-end":
        flow = Math.max(0, flow - 1);
        atIndent = false;
        break;
      case "flow-error-end":
      case "doc-end":
        flow = 0;
        break;
      case "doc-mode":
        documents += 1;
        if (documents > 1) throw refuse("document.not_yaml", "Only one document is allowed");
        break;
      case "doc-start":
        if (content) throw refuse("document.not_yaml", "Only one document is allowed");
        content = true;
        break;
      case "comment":
        break;
      case "alias":
        aliases += 1;
        atIndent = false;
        break;
      case "tag":
        if (!TAGS.has(lexeme)) throw refuse("document.not_yaml", `The tag ${lexeme.slice(0, 80)} is not allowed`);
        break;
      case "directive-line":
        throw refuse("document.not_yaml", "Directives are not allowed");
      default:
        atIndent = false;
        content = true;
    }
  };

  const count = (type: string | null): void => {
    tokens += 1;
    if (type === "scalar" || type === "single-quoted-scalar" || type === "double-quoted-scalar") scalars += 1;
    if (type === "flow-seq-start" || type === "flow-map-start") brackets += 1;
    // A value is one scalar, two with its key, or one pair of brackets.
    if (scalars > 2 * limits.maxNodes || brackets > limits.maxNodes) {
      throw refuse("document.too_complex", `There are more than ${limits.maxNodes} values`);
    }
    if (tokens > limits.maxNodes * TOKENS_PER_NODE) {
      throw refuse("document.too_complex", `There are more than ${limits.maxNodes} values, comments and blank lines`);
    }
  };

  return (lexeme) => {
    const type = scalarNext ? "text" : CST.tokenType(lexeme);
    scalarNext = type === "scalar";
    structure(lexeme, type ?? "error");
    count(type);
    if (aliases > limits.maxAliases) {
      throw refuse("document.too_complex", `Aliases are used more than ${limits.maxAliases} times`);
    }
    if (flow > limits.maxDepth || (flow === 0 && indicators > MAX_INDICATORS)) {
      throw refuse("document.too_complex", `Values are nested deeper than ${limits.maxDepth} levels`);
    }
    // Indentation inside brackets is layout, it nests nothing.
    if (flow === 0 && !atIndent && indent > MAX_INDENT) {
      throw refuse("document.too_complex", `Lines are indented by more than ${MAX_INDENT} columns`);
    }
    if (type !== "scalar" && type !== "doc-mode" && type !== "flow-error-end") offset += lexeme.length;
  };
}

import { CST } from "yaml";
import type { Limits } from "../limits.ts";
import { syntaxProblem } from "../text.ts";

// Indentation and indicators at the beginning of a line open at most that many block collections:
// bounded, they bound the parser's stack. People indent by 2 to 4 columns per level.
const MAX_INDENT = 256;
// `- - - a` and `? a : b` on one line; each opens a collection.
const MAX_INDICATORS = 16;
// `key: value` on an indented line takes eight; comments and blank lines take one or two.
const TOKENS_PER_NODE = 8;

const TAGS = new Set(["!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"]);

const ONE_DOCUMENT = "Only one document is allowed";

/**
 * Watches the tokens of a YAML text on their way to the parser, in constant
 * memory and time per token, and throws a Problem at the first that goes
 * beyond the limits or that we do not take: directives, tags of other schemas.
 */
export function createTokenGuard(text: string, limits: Limits): (lexeme: string) => void {
  const checkSyntax = createSyntaxCheck();
  const checkSize = createSizeCheck(limits);
  const checkNesting = createNestingCheck(limits);
  let offset = 0;
  let scalarNext = false;

  return (lexeme) => {
    const type = scalarNext ? "text" : (CST.tokenType(lexeme) ?? "error");
    scalarNext = type === "scalar";
    const unsupported = checkSyntax(lexeme, type);
    if (unsupported) throw syntaxProblem("document.not_yaml", { text, offset, message: unsupported });
    const excess = checkSize(type) ?? checkNesting(lexeme, type);
    if (excess) throw syntaxProblem("document.too_complex", { text, offset, message: excess });
    if (type !== "scalar" && type !== "doc-mode" && type !== "flow-error-end") offset += lexeme.length;
  };
}

/** Returns why a token is not supported: a second document, a directive, a tag of another schema. */
function createSyntaxCheck(): (lexeme: string, type: string) => string | undefined {
  let documents = 0;
  let hasContent = false;

  return (lexeme, type) => {
    switch (type) {
      case "doc-mode":
        documents += 1;
        return documents > 1 ? ONE_DOCUMENT : undefined;
      case "doc-start":
        if (hasContent) return ONE_DOCUMENT;
        hasContent = true;
        return undefined;
      case "directive-line":
        return "Directives are not allowed";
      case "tag":
        return TAGS.has(lexeme) ? undefined : `The tag ${lexeme.slice(0, 80)} is not allowed`;
      case "newline":
      case "space":
      case "comment":
      case "alias":
      case "flow-seq-end":
      case "flow-map-end":
      case "flow-error-end":
      case "doc-end":
        return undefined;
      default:
        hasContent = true;
        return undefined;
    }
  };
}

/** Counts tokens. Returns which limit of the text's size is exceeded. */
function createSizeCheck({ maxNodes, maxAliases }: Limits): (type: string) => string | undefined {
  let tokens = 0;
  let scalars = 0;
  let brackets = 0;
  let aliases = 0;

  return (type) => {
    tokens += 1;
    if (type === "scalar" || type === "single-quoted-scalar" || type === "double-quoted-scalar") scalars += 1;
    if (type === "flow-seq-start" || type === "flow-map-start") brackets += 1;
    if (type === "alias") aliases += 1;
    // A value is one scalar, two with its key, or one pair of brackets.
    if (scalars > 2 * maxNodes || brackets > maxNodes)
      return `There are more than ${maxNodes} values (limit documentValues)`;
    if (tokens > maxNodes * TOKENS_PER_NODE)
      return `There are more than ${maxNodes} values, comments and blank lines (limit documentValues)`;
    return aliases > maxAliases ? `Aliases are used more than ${maxAliases} times (limit documentAliases)` : undefined;
  };
}

/** Follows brackets, indentation and indicators. Returns which limit of their nesting is exceeded. */
function createNestingCheck({ maxDepth }: Limits): (lexeme: string, type: string) => string | undefined {
  let flow = 0;
  let indent = 0;
  let indicators = 0;
  let atIndent = true;

  function follow(lexeme: string, type: string): void {
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
        break;
      case "flow-seq-start":
      case "flow-map-start":
        flow += 1;
        atIndent = false;
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
      case "doc-start":
      case "comment":
      case "tag":
        break;
      default:
        atIndent = false;
    }
  }

  return (lexeme, type) => {
    follow(lexeme, type);
    if (flow > maxDepth || (flow === 0 && indicators > MAX_INDICATORS))
      return `Values are nested deeper than ${maxDepth} levels (limit documentDepth)`;
    // Indentation inside brackets is layout, it nests nothing.
    return flow === 0 && !atIndent && indent > MAX_INDENT
      ? `Lines are indented by more than ${MAX_INDENT} columns`
      : undefined;
  };
}

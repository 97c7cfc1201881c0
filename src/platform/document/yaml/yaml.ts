import { Composer, type Document, isScalar, Lexer, Parser, type YAMLError } from "yaml";
import { fromYaml } from "./from-yaml.ts";
import { createTokenGuard } from "./guard.ts";
import type { Limits } from "../limits.ts";
import type { DocNode } from "../node.ts";
import { syntaxProblem } from "../text.ts";

const TOO_DEEP = "Values are nested too deeply";

/**
 * Reads a YAML 1.2 text whose size has been checked. Throws a Problem with
 * line and column.
 *
 * 1. Lexer: one pass without recursion, each token counted by the guard, which
 *    ends it before the parser can nest past its stack.
 * 2. Parser and composer of the library, without anchors resolved, keys
 *    compared or tags beyond the core schema.
 * 3. Our own walk over the result: aliases, keys, numbers, depth, all counted.
 */
export function readYaml(text: string, limits: Limits): DocNode {
  const documents = compose(text, limits);
  const [first, second] = documents;
  if (!first) throw syntaxProblem("document.not_yaml", { text, offset: 0, message: "The document is empty" });
  for (const found of [...first.errors, ...first.warnings]) throw syntaxFault(text, found);
  if (second)
    throw syntaxProblem("document.not_yaml", {
      text,
      offset: second.range[0],
      message: "Only one document is allowed",
    });
  const { contents } = first;
  if (!contents || (isScalar(contents) && contents.source === "" && contents.type === "PLAIN"))
    throw syntaxProblem("document.not_yaml", { text, offset: 0, message: "The document is empty" });
  return fromYaml(text, contents, limits);
}

function compose(text: string, limits: Limits): Document.Parsed[] {
  const parser = new Parser();
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // Compared pairwise by the library, in time that grows with the square; we compare them ourselves.
    uniqueKeys: false,
    logLevel: "silent",
  });
  const watch = createTokenGuard(text, limits);
  const documents: Document.Parsed[] = [];
  // The library keeps an Error for each fault, tens of thousands in a hostile text; their stacks cost more than the
  // parsing. Nothing else runs until the limit is back.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    // All tokens are counted before the first is parsed, because parsing is expensive.
    const lexemes: string[] = [];
    for (const lexeme of new Lexer().lex(text)) {
      watch(lexeme);
      lexemes.push(lexeme);
    }
    for (const lexeme of lexemes) {
      for (const token of parser.next(lexeme)) documents.push(...(composer.next(token) as Iterable<Document.Parsed>));
    }
    for (const token of parser.end()) documents.push(...(composer.next(token) as Iterable<Document.Parsed>));
    documents.push(...(composer.end(true, text.length) as Iterable<Document.Parsed>));
  } catch (error) {
    // The guard limits nesting far below the stack; a RangeError of the library is still reported as too deep.
    if (error instanceof RangeError)
      throw syntaxProblem("document.too_complex", { text, offset: 0, message: TOO_DEEP });
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return documents;
}

function syntaxFault(text: string, error: YAMLError): Error {
  const [offset] = error.pos;
  if (error.code === "RESOURCE_EXHAUSTION") {
    return syntaxProblem("document.too_complex", { text, offset, message: TOO_DEEP });
  }
  // The library points at the beginning of a line whose indentation is wrong; people look for its first word.
  const indent = error.code === "BAD_INDENT" ? /^ */.exec(text.slice(offset))?.[0].length : 0;
  return syntaxProblem("document.not_yaml", { text, offset: offset + (indent ?? 0), message: reasonOf(error) });
}

/** The message of the library, or a clearer one for known codes. */
function reasonOf(error: YAMLError): string {
  if (error.code === "TAB_AS_INDENT") return "Tabs are not allowed as indentation";
  if (error.code === "BLOCK_AS_IMPLICIT_KEY")
    return "Nested mappings are not allowed on one line; write a text with ': ' in quotes or below |";
  if (error.code === "NON_STRING_KEY") return "Keys must be strings";
  return error.message.length > 200 ? `${error.message.slice(0, 200).toWellFormed()}…` : error.message;
}

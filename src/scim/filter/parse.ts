/** Parses filters and paths into trees: `not` binds closer than `and`, `and` closer than `or`. */
import { COMPARISONS, type AttributePath, type Comparison, type Filter, type PatchPath } from "./syntax.ts";
import { badFilter, badPath, tokensOf, type Complain, type Token } from "./tokens.ts";

/** Limits of one filter: conditions, and nested parentheses. */
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 20;

/** Throws `scim.invalid_filter`. */
export function parseFilter(source: string): Filter {
  const reader = createReader(tokensOf(source, badFilter), badFilter);
  const filter = reader.filter(0, true);
  reader.end();
  return filter;
}

/** Throws `scim.invalid_path`, or what `complain` creates. */
export function parsePath(source: string, complain: Complain = badPath): PatchPath {
  const reader = createReader(tokensOf(source, complain), complain);
  const attribute = reader.attribute();
  const filter = reader.takes("[") ? reader.filter(0, false) : undefined;
  if (filter) reader.needs("]");
  const sub = filter ? reader.sub() : undefined;
  reader.end();
  return { attribute, ...(filter ? { filter } : {}), ...(sub === undefined ? {} : { sub }) };
}

function createReader(tokens: readonly Token[], complain: Complain) {
  let at = 0;
  let conditions = 0;

  const takes = (kind: Token["kind"]): Token | undefined => {
    const next = tokens[at];
    if (next?.kind !== kind) return undefined;
    at += 1;
    return next;
  };
  const needs = (kind: Token["kind"]): void => {
    if (!takes(kind)) throw complain(`a ${kind} is missing`);
  };
  const takesWord = (word: string): boolean => {
    const next = tokens[at];
    if (next?.kind !== "word" || next.text.toLowerCase() !== word) return false;
    at += 1;
    return true;
  };

  function attribute(): AttributePath {
    const next = takes("word");
    if (next?.kind !== "word") throw complain("the name of an attribute is missing");
    return pathOf(next.text);
  }

  function filter(depth: number, lists: boolean): Filter {
    let left = conjunction(depth, lists);
    while (takesWord("or")) left = { kind: "or", left, right: conjunction(depth, lists) };
    return left;
  }

  function conjunction(depth: number, lists: boolean): Filter {
    let left = condition(depth, lists);
    while (takesWord("and")) left = { kind: "and", left, right: condition(depth, lists) };
    return left;
  }

  /** `lists`: whether brackets may open; they cannot be nested. */
  function condition(depth: number, lists: boolean): Filter {
    conditions += 1;
    if (conditions > MAX_CONDITIONS) throw complain(`it has more than ${MAX_CONDITIONS} conditions`);
    if (depth > MAX_DEPTH) throw complain(`its parentheses stand more than ${MAX_DEPTH} deep`);
    const negated = tokens[at + 1]?.kind === "(" && takesWord("not");
    if (takes("(")) {
      const inner = filter(depth + 1, lists);
      needs(")");
      return negated ? { kind: "not", of: inner } : inner;
    }
    const path = attribute();
    if (lists && takes("[")) {
      const of = filter(depth + 1, false);
      needs("]");
      const part = takes("sub");
      // Not in the grammar, but Entra searches like this: `emails[type eq "work"].value eq "x"`.
      const more = part?.kind === "sub" ? comparison({ name: part.text }) : undefined;
      return { kind: "some", path, of: more ? { kind: "and", left: of, right: more } : of };
    }
    return comparison(path);
  }

  function comparison(path: AttributePath): Filter {
    if (takesWord("pr")) return { kind: "present", path };
    const operator = takes("word");
    const by = operator?.kind === "word" ? operatorOf(operator.text) : undefined;
    if (!by) throw complain(`an operator is missing: one of ${COMPARISONS.join(", ")} and pr`);
    const value = takes("literal");
    if (value?.kind !== "literal")
      throw complain("a value is missing: a text in double quotes, a number, true, false or null");
    return { kind: "compare", path, by, value: value.value };
  }

  return {
    takes,
    needs,
    attribute,
    filter,
    sub: (): string | undefined => {
      const next = takes("sub");
      return next?.kind === "sub" ? next.text : undefined;
    },
    end: (): void => {
      if (at < tokens.length) throw complain("something follows where it should end");
    },
  };
}

const operatorOf = (text: string): Comparison | undefined => COMPARISONS.find((one) => one === text.toLowerCase());

/** Splits `urn:…:User:name.familyName` at the last colon, where the URN ends. */
export function pathOf(source: string): AttributePath {
  const colon = source.lastIndexOf(":");
  const [name = "", sub] = source.slice(colon + 1).split(".");
  return {
    ...(colon < 0 ? {} : { schema: source.slice(0, colon) }),
    name,
    ...(sub === undefined ? {} : { sub }),
  };
}

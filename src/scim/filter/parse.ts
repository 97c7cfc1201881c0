/** Parses filters and paths into trees: `not` binds closer than `and`, `and` closer than `or`. */
import { createReader, type Reader } from "./reader.ts";
import { COMPARISONS, type AttributePath, type Comparison, type Filter, type PatchPath } from "./syntax.ts";
import { badFilter, badPath, tokensOf, type Complain } from "./tokens.ts";

/** Limits of one filter: conditions, and nested parentheses. */
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 20;

/** Throws `scim.invalid_filter`. */
export function parseFilter(source: string): Filter {
  const reader = createReader(tokensOf(source, badFilter), badFilter);
  const filter = readFilter(reader, true);
  reader.requireEnd();
  return filter;
}

/** Throws `scim.invalid_path`, or what `complain` creates. */
export function parsePath(source: string, complain: Complain = badPath): PatchPath {
  const reader = createReader(tokensOf(source, complain), complain);
  const attribute = readAttribute(reader);
  const filter = reader.take("[") ? readFilter(reader, false) : undefined;
  if (filter) reader.require("]");
  const sub = filter ? reader.takeText("sub") : undefined;
  reader.requireEnd();
  return { attribute, ...(filter ? { filter } : {}), ...(sub === undefined ? {} : { sub }) };
}

/** `allowsLists`: whether brackets may open; they cannot be nested. */
function readFilter(reader: Reader, allowsLists: boolean): Filter {
  let conditions = 0;
  return disjunction(0, allowsLists);

  function disjunction(depth: number, lists: boolean): Filter {
    let left = conjunction(depth, lists);
    while (reader.takeWord("or")) left = { kind: "or", left, right: conjunction(depth, lists) };
    return left;
  }

  function conjunction(depth: number, lists: boolean): Filter {
    let left = condition(depth, lists);
    while (reader.takeWord("and")) left = { kind: "and", left, right: condition(depth, lists) };
    return left;
  }

  function condition(depth: number, lists: boolean): Filter {
    conditions += 1;
    if (conditions > MAX_CONDITIONS) throw reader.complain(`it has more than ${MAX_CONDITIONS} conditions`);
    if (depth > MAX_DEPTH) throw reader.complain(`its parentheses stand more than ${MAX_DEPTH} deep`);
    const negated = reader.isFollowedBy("(") && reader.takeWord("not");
    if (reader.take("(")) {
      const inner = disjunction(depth + 1, lists);
      reader.require(")");
      return negated ? { kind: "not", of: inner } : inner;
    }
    const path = readAttribute(reader);
    if (lists && reader.take("[")) {
      const of = disjunction(depth + 1, false);
      reader.require("]");
      const name = reader.takeText("sub");
      // Not in the grammar, but Entra searches like this: `emails[type eq "work"].value eq "x"`.
      const more = name === undefined ? undefined : readComparison(reader, { name });
      return { kind: "some", path, of: more ? { kind: "and", left: of, right: more } : of };
    }
    return readComparison(reader, path);
  }
}

function readAttribute(reader: Reader): AttributePath {
  const path = reader.takeText("word");
  if (path === undefined) throw reader.complain("the name of an attribute is missing");
  return pathOf(path);
}

function readComparison(reader: Reader, path: AttributePath): Filter {
  if (reader.takeWord("pr")) return { kind: "present", path };
  const by = operatorOf(reader.takeText("word"));
  if (!by) throw reader.complain(`an operator is missing: one of ${COMPARISONS.join(", ")} and pr`);
  const value = reader.take("literal");
  if (value?.kind !== "literal")
    throw reader.complain("a value is missing: a text in double quotes, a number, true, false or null");
  return { kind: "compare", path, by, value: value.value };
}

const operatorOf = (word: string | undefined): Comparison | undefined =>
  COMPARISONS.find((one) => one === word?.toLowerCase());

/** Splits `urn:…:User:name.familyName` at the last colon, where the URN ends. */
function pathOf(source: string): AttributePath {
  const colon = source.lastIndexOf(":");
  const [name = "", sub] = source.slice(colon + 1).split(".");
  return {
    ...(colon < 0 ? {} : { schema: source.slice(0, colon) }),
    name,
    ...(sub === undefined ? {} : { sub }),
  };
}

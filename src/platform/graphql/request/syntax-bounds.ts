/**
 * What is counted in a document as it stands, before it is validated: validating compares fields with fields, and
 * must not be given more of them than it is good for (invariant 11).
 */
import { BREAK, GraphQLError, visit, type DocumentNode, type NameNode } from "graphql";
import { MAX_FIELDS } from "../cost/bounds.ts";

/** In the whole document, fragments counted once: an alias is how one field is asked for many times. */
export const MAX_ALIASES = 30;
/** Characters of an alias: each entry of an answer, and each error below it, repeats it. */
export const MAX_ALIAS = 128;
export const MAX_DIRECTIVES = 50;
/** Fragments that are defined, spread or inline. */
export const MAX_FRAGMENTS = 100;
/** Levels of lists and objects in an argument. */
export const MAX_VALUE_DEPTH = 15;

/** The first of these bounds that a parsed document passes; undefined when it keeps them all. */
export function syntaxBoundPassed(document: DocumentNode): GraphQLError | undefined {
  let passed: string | undefined;
  const counts = new Map<string, number>();
  const count = (what: string, most: number, by = 1): unknown => {
    const now = (counts.get(what) ?? 0) + by;
    counts.set(what, now);
    if (now <= most) return undefined;
    passed = `The query has more than ${most} ${what}.`;
    return BREAK;
  };
  const alias = ({ value: name }: NameNode): unknown => {
    if (name.length <= MAX_ALIAS) return count("aliases", MAX_ALIASES);
    passed = `The query has an alias of more than ${MAX_ALIAS} characters.`;
    return BREAK;
  };
  const fragment = (): unknown => count("fragments", MAX_FRAGMENTS);
  const value = {
    enter: (): unknown => count("levels in an argument", MAX_VALUE_DEPTH),
    leave: (): unknown => count("levels in an argument", MAX_VALUE_DEPTH, -1),
  };
  visit(document, {
    Field: (node) => count("fields", MAX_FIELDS) ?? (node.alias && alias(node.alias)),
    Directive: () => count("directives", MAX_DIRECTIVES),
    FragmentDefinition: fragment,
    FragmentSpread: fragment,
    InlineFragment: fragment,
    ListValue: value,
    ObjectValue: value,
  });
  return passed === undefined ? undefined : new GraphQLError(passed);
}

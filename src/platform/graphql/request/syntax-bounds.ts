/**
 * Limits that are counted in the unvalidated document: validation compares fields with each other, so their number
 * must be limited first (invariant 11).
 */
import { BREAK, GraphQLError, visit, type DocumentNode, type NameNode } from "graphql";
import { MAX_FIELDS } from "../cost/bounds.ts";

/** Fields of the whole document, with fragments counted once: aliases repeat a field. */
export const MAX_ALIASES = 30;
/** Characters of an alias, which each entry of an answer and each error repeats. */
export const MAX_ALIAS = 128;
export const MAX_DIRECTIVES = 50;
/** Fragments: definitions, spreads and inline ones. */
export const MAX_FRAGMENTS = 100;
/** Levels of lists and objects in an argument. */
export const MAX_VALUE_DEPTH = 15;

/** The error of the first exceeded limit; undefined when there is none. */
export function findExceededSyntaxBound(document: DocumentNode): GraphQLError | undefined {
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

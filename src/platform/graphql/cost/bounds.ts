/** Limits of a document, counted before it runs (invariant 11). Fragments count at each spread. */
import { GraphQLError, Kind, type DocumentNode, type SelectionSetNode } from "graphql";

/** Levels of fields. */
export const MAX_DEPTH = 15;
/** Root fields of one operation, with aliases: each is a query of its own. */
export const MAX_ROOT_FIELDS = 20;
/** All fields of one operation; the usual introspection query has about 200. */
export const MAX_FIELDS = 1_000;

type Size = { readonly depth: number; readonly fields: number; readonly top: number };

const NOTHING: Size = { depth: 0, fields: 0, top: 0 };
const beside = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
  top: a.top + b.top,
});

/**
 * The error of the first exceeded limit; undefined when there is none. Only for validated documents: fragments exist
 * and have no cycle.
 */
export function findExceededBound(document: DocumentNode): GraphQLError | undefined {
  const { depth, fields, top } = sizeOf(document);
  if (depth > MAX_DEPTH)
    return new GraphQLError(`The query is ${depth} levels deep; at most ${MAX_DEPTH} are allowed.`);
  if (top > MAX_ROOT_FIELDS)
    return new GraphQLError(`The query has ${top} fields at the top; at most ${MAX_ROOT_FIELDS} are allowed.`);
  if (fields > MAX_FIELDS)
    return new GraphQLError(`The query has ${fields} fields; at most ${MAX_FIELDS} are allowed.`);
  return undefined;
}

/** The largest value of each measure over all operations. */
function sizeOf(document: DocumentNode): Size {
  const fragments = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
  // A fragment is measured once, so that counting stays cheap however often it is spread.
  const known = new Map<string, Size>();
  const of = (set: SelectionSetNode | undefined): Size => {
    let size = NOTHING;
    for (const node of set?.selections ?? []) {
      if (node.kind === Kind.FIELD) {
        const below = of(node.selectionSet);
        size = beside(size, { depth: below.depth + 1, fields: below.fields + 1, top: 1 });
      } else
        size = beside(size, node.kind === Kind.INLINE_FRAGMENT ? of(node.selectionSet) : ofFragment(node.name.value));
    }
    return size;
  };
  const ofFragment = (name: string): Size => {
    const size = known.get(name) ?? of(fragments.get(name)?.selectionSet);
    known.set(name, size);
    return size;
  };
  let largest = NOTHING;
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, fields, top } = of(node.selectionSet);
    largest = {
      depth: Math.max(largest.depth, depth),
      fields: Math.max(largest.fields, fields),
      top: Math.max(largest.top, top),
    };
  }
  return largest;
}

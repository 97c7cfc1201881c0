import {
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from "graphql";

/** What a resolver gets to know of the document it answers. */
type Info = Pick<GraphQLResolveInfo, "fieldNodes" | "fragments">;

/**
 * Whether a document selects any of these fields anywhere below the field that is resolved, so that a
 * statement reads them only then. Looked up once for each document that is kept, since its nodes are kept with it.
 */
export function createSelects(...names: readonly string[]): (info: Info) => boolean {
  const wanted = new Set(names);
  const known = new WeakMap<FieldNode, boolean>();
  return ({ fieldNodes, fragments }) => {
    const [only, ...others] = fieldNodes;
    // A field written twice is merged, and with which other one depends on the operation.
    if (!only || others.length > 0) return fieldNodes.some((node) => anySelected(node.selectionSet, wanted, fragments));
    const found = known.get(only) ?? anySelected(only.selectionSet, wanted, fragments);
    known.set(only, found);
    return found;
  };
}

function anySelected(
  set: SelectionSetNode | undefined,
  wanted: ReadonlySet<string>,
  fragments: { readonly [name: string]: FragmentDefinitionNode },
): boolean {
  // Validated documents have no circles of fragments.
  return (set?.selections ?? []).some((node) => {
    if (node.kind === Kind.FRAGMENT_SPREAD)
      return anySelected(fragments[node.name.value]?.selectionSet, wanted, fragments);
    if (node.kind === Kind.FIELD && wanted.has(node.name.value)) return true;
    return anySelected(node.selectionSet, wanted, fragments);
  });
}

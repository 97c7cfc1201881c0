import {
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from "graphql";

/** The parts of a document that a resolver sees. */
type Info = Pick<GraphQLResolveInfo, "fieldNodes" | "fragments">;

/**
 * Whether a document selects any of these fields below the resolved field, so that a statement reads them only then.
 * Cached with the nodes of the document.
 */
export function createSelectionCheck(...names: readonly string[]): (info: Info) => boolean {
  const wanted = new Set(names);
  const known = new WeakMap<FieldNode, boolean>();
  return ({ fieldNodes, fragments }) => {
    const [only, ...others] = fieldNodes;
    // A repeated field is merged, and the operation decides with which.
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
  // Validated documents have no cycles of fragments.
  return (set?.selections ?? []).some((node) => {
    if (node.kind === Kind.FRAGMENT_SPREAD)
      return anySelected(fragments[node.name.value]?.selectionSet, wanted, fragments);
    if (node.kind === Kind.FIELD && wanted.has(node.name.value)) return true;
    return anySelected(node.selectionSet, wanted, fragments);
  });
}

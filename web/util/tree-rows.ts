export type TreeNode = {
  readonly id: string;
  readonly label: string;
  readonly children?: readonly TreeNode[] | undefined;
};

export type TreeRow<Node extends TreeNode> = {
  readonly node: Node;
  readonly level: number;
  readonly parent: string | undefined;
  readonly hasChildren: boolean;
  readonly position: number;
  readonly siblings: number;
};

/** The visible nodes of a tree from top to bottom. */
export function treeRows<Node extends TreeNode>(
  nodes: readonly Node[],
  isExpanded: (id: string) => boolean,
  parent?: { readonly id: string; readonly level: number },
): readonly TreeRow<Node>[] {
  const level = (parent?.level ?? 0) + 1;
  return nodes.flatMap((node, index) => {
    const children = (node.children ?? []) as readonly Node[];
    const row = {
      node,
      level,
      parent: parent?.id,
      hasChildren: children.length > 0,
      position: index + 1,
      siblings: nodes.length,
    };
    return [
      row,
      ...(row.hasChildren && isExpanded(node.id) ? treeRows(children, isExpanded, { id: node.id, level }) : []),
    ];
  });
}

export type TreeMove =
  | { readonly kind: "focus"; readonly id: string }
  | { readonly kind: "expand" | "collapse"; readonly id: string };

/** What a key does in a tree, as the ARIA practices have it. Undefined for other keys. */
export function moveInTree<Node extends TreeNode>(
  key: string,
  focused: string,
  rows: readonly TreeRow<Node>[],
  isExpanded: (id: string) => boolean,
): TreeMove | undefined {
  const index = rows.findIndex(({ node }) => node.id === focused);
  const row = rows[index];
  if (!row) return undefined;
  const focus = (target: TreeRow<Node> | undefined): TreeMove | undefined =>
    target && { kind: "focus", id: target.node.id };
  const isOpen = row.hasChildren && isExpanded(focused);
  switch (key) {
    case "ArrowDown":
      return focus(rows[index + 1]);
    case "ArrowUp":
      return focus(rows[index - 1]);
    case "Home":
      return focus(rows[0]);
    case "End":
      return focus(rows.at(-1));
    case "ArrowRight":
      if (isOpen) return focus(rows[index + 1]);
      return row.hasChildren ? { kind: "expand", id: focused } : undefined;
    case "ArrowLeft":
      if (isOpen) return { kind: "collapse", id: focused };
      return row.parent === undefined ? undefined : { kind: "focus", id: row.parent };
    default:
      return undefined;
  }
}

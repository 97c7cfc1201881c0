import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { moveInTree, treeRows, type TreeNode, type TreeRow } from "../util/tree-rows.ts";
import { Icon } from "./icon.tsx";
import { Name } from "./name.tsx";
import styles from "./tree.module.css";

export type { TreeNode } from "../util/tree-rows.ts";

type TreeProps<Node extends TreeNode> = {
  readonly label: string;
  readonly nodes: readonly Node[];
  readonly expanded: ReadonlySet<string>;
  readonly onExpandedChange: (expanded: ReadonlySet<string>) => void;
  readonly selected?: string | undefined;
  readonly onSelect: (node: Node) => void;
  /** Before the label: a status or an icon. */
  readonly renderIcon?: ((node: Node) => ReactNode) | undefined;
  /** At the end of the row: a duration or a count. */
  readonly renderDetail?: ((node: Node) => ReactNode) | undefined;
};

/** A tree with the keyboard of the ARIA practices: one stop for Tab, arrows within. */
export function Tree<Node extends TreeNode>(props: TreeProps<Node>) {
  const { label, nodes, expanded, onExpandedChange, selected, onSelect, renderIcon, renderDetail } = props;
  const list = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState<string>();
  const isExpanded = (id: string): boolean => expanded.has(id);
  const rows = treeRows(nodes, isExpanded);
  const isVisible = (id: string | undefined): boolean => rows.some(({ node }) => node.id === id);
  const tabStop = [focused, selected].find(isVisible) ?? rows[0]?.node.id;

  const setExpanded = (id: string, isOpen: boolean): void => {
    const next = new Set(expanded);
    if (isOpen) next.add(id);
    else next.delete(id);
    onExpandedChange(next);
  };
  const onKeyDown = (event: KeyboardEvent, { node }: TreeRow<Node>): void => {
    const move = moveInTree(event.key, node.id, rows, isExpanded);
    if (event.key === "Enter" || event.key === " ") onSelect(node);
    else if (move?.kind === "focus")
      focusRow(
        list.current,
        rows.findIndex((row) => row.node.id === move.id),
      );
    else if (move) setExpanded(move.id, move.kind === "expand");
    else return;
    event.preventDefault();
  };
  return (
    <ul ref={list} className={styles.tree} role="tree" aria-label={label}>
      {rows.map((row) => (
        <li
          key={row.node.id}
          className={classNames(styles.row, row.node.id === selected && styles.selected)}
          role="treeitem"
          aria-level={row.level}
          aria-posinset={row.position}
          aria-setsize={row.siblings}
          aria-selected={row.node.id === selected}
          aria-expanded={row.hasChildren ? isExpanded(row.node.id) : undefined}
          tabIndex={row.node.id === tabStop ? 0 : -1}
          style={{ "--level": row.level }}
          onFocus={() => setFocused(row.node.id)}
          onKeyDown={(event) => onKeyDown(event, row)}
          onClick={() => onSelect(row.node)}
        >
          <ExpandMark row={row} isOpen={isExpanded(row.node.id)} onToggle={setExpanded} />
          {renderIcon?.(row.node)}
          <span className={styles.label} title={row.node.label}>
            <Name>{row.node.label}</Name>
          </span>
          {renderDetail && <span className={styles.detail}>{renderDetail(row.node)}</span>}
        </li>
      ))}
    </ul>
  );
}

type ExpandMarkProps<Node extends TreeNode> = {
  readonly row: TreeRow<Node>;
  readonly isOpen: boolean;
  readonly onToggle: (id: string, isOpen: boolean) => void;
};

/** For pointers only: the keyboard expands with the arrows. */
function ExpandMark<Node extends TreeNode>({ row, isOpen, onToggle }: ExpandMarkProps<Node>) {
  return (
    <span
      className={styles.mark}
      aria-hidden
      onClick={(event) => {
        if (!row.hasChildren) return;
        event.stopPropagation();
        onToggle(row.node.id, !isOpen);
      }}
    >
      {row.hasChildren && <Icon name={isOpen ? "chevron-down" : "chevron-right"} size={12} />}
    </span>
  );
}

function focusRow(list: HTMLUListElement | null, index: number): void {
  const row = list?.children.item(index);
  if (row instanceof HTMLElement) row.focus();
}

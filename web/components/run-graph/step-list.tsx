import { memo } from "react";
import { Count } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Name } from "../../ui/name.tsx";
import { classNames } from "../../util/class-names.ts";
import { visibleText } from "../../util/visible-text.ts";
import { lookOf } from "../execution-status.ts";
import type { RunNode } from "../execution-store.ts";
import { StatusIcon } from "../status-icon.tsx";
import { useNode } from "../use-execution.ts";
import { useGraph, useOpen, useShownChildren } from "./graph-state.ts";
import { NodeDuration } from "./node-duration.tsx";
import { isFork, isRepeat, isStep, kindOf } from "./node-kind.ts";
import styles from "./run-graph.module.css";

/** Steps and groups one after the other, or at the same time. */
export function StepList({
  ids,
  isParallel = false,
}: {
  readonly ids: readonly string[];
  readonly isParallel?: boolean;
}) {
  const List = isParallel ? "ul" : "ol";
  return (
    <List className={classNames(styles.steps, isParallel ? styles.parallel : styles.series)}>
      {ids.map((id) => (
        <StepItem key={id} id={id} />
      ))}
    </List>
  );
}

const StepItem = memo(function StepItem({ id }: { readonly id: string }) {
  const node = useNode(id);
  if (node === undefined) return null;
  return (
    <li className={styles.step}>
      {isStep(node) ? <StepButton node={node} /> : isFork(node) ? <Fork id={id} /> : <Group node={node} />}
    </li>
  );
});

function StepButton({ node }: { readonly node: RunNode }) {
  const { selected, onSelect } = useGraph();
  const isSelected = selected === node.uuid;
  return (
    <button
      type="button"
      className={classNames(
        styles.node,
        styles.stepButton,
        isSelected && styles.selected,
        node.status === "NotStarted" && styles.pending,
      )}
      aria-current={isSelected ? "true" : undefined}
      title={visibleText(node.name)}
      onClick={() => onSelect(node.uuid)}
    >
      <StatusIcon status={node.status} size={14} />
      <span className={styles.name}>
        <Name>{node.name}</Name>
      </span>
      {node.earlierAttempts.length > 0 && (
        <span className={styles.attempts} title={`Attempt ${node.earlierAttempts.length + 1}`}>
          ×{node.earlierAttempts.length + 1}
        </span>
      )}
      <NodeDuration node={node} />
    </button>
  );
}

function Fork({ id }: { readonly id: string }) {
  const children = useShownChildren(id);
  return (
    <div className={styles.fork} role="group" aria-label="At the same time">
      <StepList ids={children} isParallel />
    </div>
  );
}

/** A step group, or the repetitions of a matrix or a loop. */
function Group({ node }: { readonly node: RunNode }) {
  const children = useShownChildren(node.uuid);
  const [isOpen, toggle] = useOpen(node, false);
  return (
    <div className={styles.group} role="group" aria-label={visibleText(node.name)}>
      <GroupHeader node={node} isOpen={isOpen} onToggle={toggle} />
      {isOpen ? <StepList ids={children} isParallel={isRepeat(node)} /> : <Dots ids={children} />}
    </div>
  );
}

type GroupHeaderProps = { readonly node: RunNode; readonly isOpen?: boolean; readonly onToggle?: () => void };

export function GroupHeader({ node, isOpen, onToggle }: GroupHeaderProps) {
  const { selected, onSelect } = useGraph();
  const children = useShownChildren(node.uuid);
  const name = visibleText(node.name);
  return (
    <div className={classNames(styles.groupHeader, selected === node.uuid && styles.selected)}>
      <button
        type="button"
        className={styles.node}
        title={`${kindOf(node)}: ${name}`}
        aria-current={selected === node.uuid ? "true" : undefined}
        onClick={() => onSelect(node.uuid)}
      >
        <StatusIcon status={node.status} size={14} />
        <span className={styles.name}>
          <Name>{node.name}</Name>
        </span>
        {isRepeat(node) && <Count>{children.length}</Count>}
        <NodeDuration node={node} />
      </button>
      {onToggle && (
        <IconButton
          icon={isOpen === true ? "chevron-up" : "chevron-down"}
          size="small"
          label={`${isOpen === true ? "Hide" : "Show"} the parts of ${name}`}
          aria-expanded={isOpen}
          onClick={onToggle}
        />
      )}
    </div>
  );
}

/** Each part of a closed group as its status. */
function Dots({ ids }: { readonly ids: readonly string[] }) {
  return (
    <ul className={styles.dots}>
      {ids.map((id) => (
        <Dot key={id} id={id} />
      ))}
    </ul>
  );
}

const Dot = memo(function Dot({ id }: { readonly id: string }) {
  const node = useNode(id);
  const { onSelect } = useGraph();
  if (node === undefined) return null;
  const label = `${visibleText(node.name)}: ${lookOf(node.status).label}`;
  return (
    <li>
      <button type="button" className={styles.dot} aria-label={label} title={label} onClick={() => onSelect(id)}>
        <StatusIcon status={node.status} size={14} />
      </button>
    </li>
  );
});

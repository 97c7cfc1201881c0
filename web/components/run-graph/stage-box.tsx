import { memo } from "react";
import { IconButton } from "../../ui/button.tsx";
import { Name } from "../../ui/name.tsx";
import { classNames } from "../../util/class-names.ts";
import { visibleText } from "../../util/visible-text.ts";
import { StatusIcon } from "../status-icon.tsx";
import { useNode, useStore } from "../use-execution.ts";
import { countSteps, useGraph, useOpen, useShownChildren } from "./graph-state.ts";
import { NodeDuration } from "./node-duration.tsx";
import styles from "./run-graph.module.css";
import { StepList } from "./step-list.tsx";

export const StageBox = memo(function StageBox({ id }: { readonly id: string }) {
  const node = useNode(id);
  return node === undefined ? null : <OpenableStage node={node} />;
});

function OpenableStage({ node }: { readonly node: NonNullable<ReturnType<typeof useNode>> }) {
  const store = useStore();
  const { selected, onSelect } = useGraph();
  const sections = useShownChildren(node.uuid);
  const [isOpen, toggle] = useOpen(node, true);
  const steps = countSteps(store, node.uuid);
  const name = visibleText(node.name);
  return (
    <section
      className={classNames(styles.stage, node.status === "NotStarted" && styles.pending)}
      aria-label={`Stage ${name}`}
    >
      <div className={classNames(styles.stageHeader, selected === node.uuid && styles.selected)}>
        <button
          type="button"
          className={styles.node}
          aria-current={selected === node.uuid ? "true" : undefined}
          title={name}
          onClick={() => onSelect(node.uuid)}
        >
          <StatusIcon status={node.status} />
          <span className={styles.name}>
            <Name>{node.name}</Name>
          </span>
          <NodeDuration node={node} />
        </button>
        {steps > 0 && (
          <IconButton
            icon={isOpen ? "chevron-up" : "chevron-down"}
            size="small"
            label={isOpen ? `Hide the steps of ${name}` : `Show the steps of ${name}`}
            aria-expanded={isOpen}
            onClick={toggle}
          />
        )}
      </div>
      {isOpen ? (
        sections.map((section) => <Section key={section} id={section} />)
      ) : (
        <p className={styles.closed}>{steps === 1 ? "1 step" : `${steps} steps`}</p>
      )}
    </section>
  );
}

/** The steps of a stage, or those of its rollback. */
function Section({ id }: { readonly id: string }) {
  const node = useNode(id);
  const children = useShownChildren(id);
  if (node === undefined || children.length === 0) return null;
  const isRollback = node.identifier === "rollbackSteps";
  return (
    <>
      {isRollback && <p className={styles.sectionTitle}>Rollback</p>}
      <StepList ids={children} />
    </>
  );
}

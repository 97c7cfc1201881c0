import { memo, useMemo } from "react";
import { useNode, useStore, useStructure } from "../use-execution.ts";
import { ancestorsOf, GraphProvider, isLargeGraph, useShownChildren, type GraphState } from "./graph-state.ts";
import { isFork, isRepeat } from "./node-kind.ts";
import styles from "./run-graph.module.css";
import { StageBox } from "./stage-box.tsx";
import { GroupHeader } from "./step-list.tsx";

type RunGraphProps = {
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
};

/** Stages from left to right, those that run at the same time below each other, with their steps from top to bottom. */
export function RunGraph({ selected, onSelect }: RunGraphProps) {
  const store = useStore();
  const { rootId } = useStructure();
  const around = [...ancestorsOf(store, selected)].join(" ");
  const isLarge = rootId !== undefined && isLargeGraph(store, rootId);
  // Every node renders again when it changes: it must not change with the structure.
  const state = useMemo<GraphState>(
    () => ({ selected, onSelect, around: new Set(around.split(" ")), isLarge }),
    [selected, onSelect, around, isLarge],
  );
  if (rootId === undefined) return null;
  return (
    <GraphProvider value={state}>
      <div className={styles.container}>
        {/* What scrolls has to be reachable by the keyboard. */}
        <div className={styles.scroller} tabIndex={0} role="region" aria-label="Graph of stages and steps">
          <Stages parentId={rootId} />
        </div>
      </div>
    </GraphProvider>
  );
}

function Stages({ parentId }: { readonly parentId: string }) {
  const children = useShownChildren(parentId);
  return (
    <ol className={styles.stages}>
      {children.map((id) => (
        <li key={id} className={styles.column}>
          <StagePart id={id} />
        </li>
      ))}
    </ol>
  );
}

/** A stage, stages that run at the same time, or a stage that is repeated. */
const StagePart = memo(function StagePart({ id }: { readonly id: string }) {
  const node = useNode(id);
  if (node === undefined) return null;
  if (isFork(node)) return <ParallelStages id={id} />;
  if (isRepeat(node))
    return (
      <section className={styles.repeat} aria-label={node.name}>
        <GroupHeader node={node} />
        <ParallelStages id={id} />
      </section>
    );
  return <StageBox id={id} />;
});

function ParallelStages({ id }: { readonly id: string }) {
  const children = useShownChildren(id);
  return (
    <ul className={styles.parallelStages}>
      {children.map((child) => (
        <li key={child}>
          <StagePart id={child} />
        </li>
      ))}
    </ul>
  );
}

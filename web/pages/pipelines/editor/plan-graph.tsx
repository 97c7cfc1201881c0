import { createContext, useContext, useMemo } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Name } from "../../../ui/name.tsx";
import { classNames } from "../../../util/class-names.ts";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./plan-graph.module.css";
import type { Plan, PlanNode } from "./use-check.ts";

type PlanGraphProps = {
  readonly plan: Plan;
  /** Shows the line in the editor. Without it nodes are not buttons. */
  readonly onSelect?: ((line: number) => void) | undefined;
};
type Named = Exclude<PlanNode, { readonly kind: "Parallel" }>;
type Graph = {
  readonly childrenOf: (parent: string | null, list?: PlanNode["list"]) => readonly PlanNode[];
  readonly onSelect: PlanGraphProps["onSelect"];
};

const Context = createContext<Graph>({ childrenOf: () => [], onSelect: undefined });

/** What would run: stages from top to bottom as in the document, with their steps; side by side what runs at once. */
export function PlanGraph({ plan, onSelect }: PlanGraphProps) {
  const graph = useMemo<Graph>(() => {
    const byParent = Map.groupBy(plan.nodes, ({ parent }) => parent);
    return {
      childrenOf: (parent, list) =>
        (byParent.get(parent) ?? []).filter((node) => list === undefined || node.list === list),
      onSelect,
    };
  }, [plan, onSelect]);
  return (
    <Context value={graph}>
      <div className={styles.scroller} tabIndex={0} role="region" aria-label="Graph of stages and steps">
        <Series nodes={graph.childrenOf(null)} />
      </div>
    </Context>
  );
}

function Series({ nodes }: { readonly nodes: readonly PlanNode[] }) {
  return (
    <ol className={styles.series}>
      {nodes.map((node) => (
        <li key={node.path} className={styles.item}>
          <Part node={node} />
        </li>
      ))}
    </ol>
  );
}

function Part({ node }: { readonly node: PlanNode }) {
  switch (node.kind) {
    case "Parallel":
      return <Parallel node={node} />;
    case "Step":
      return <NodeHeader node={node} detail={node.type} isStep />;
    case "Stage":
      return <Container node={node} detail={detailOfStage(node)} />;
    case "StepGroup":
      return <Container node={node} detail="Step group" />;
  }
}

function Parallel({ node }: { readonly node: PlanNode }) {
  const { childrenOf } = useContext(Context);
  return (
    <ul className={styles.parallel} aria-label="At the same time">
      {childrenOf(node.path).map((child) => (
        <li key={child.path} className={styles.branch}>
          <Part node={child} />
        </li>
      ))}
    </ul>
  );
}

function Container({ node, detail }: { readonly node: Named; readonly detail: string }) {
  const { childrenOf } = useContext(Context);
  const rollback = childrenOf(node.path, "rollbackSteps");
  return (
    <section
      className={classNames(styles.container, node.kind === "Stage" && styles.stage)}
      aria-label={`${node.kind === "Stage" ? "Stage" : "Step group"} ${visibleText(node.name)}`}
    >
      <NodeHeader node={node} detail={detail} />
      <Series nodes={childrenOf(node.path, "steps")} />
      {rollback.length > 0 && (
        <div className={styles.rollback}>
          <p className={styles.rollbackTitle}>
            <Icon name="undo" size={12} /> On rollback
          </p>
          <Series nodes={rollback} />
        </div>
      )}
    </section>
  );
}

type NodeHeaderProps = { readonly node: Named; readonly detail: string; readonly isStep?: boolean };

function NodeHeader({ node, detail, isStep = false }: NodeHeaderProps) {
  const { onSelect } = useContext(Context);
  const { line } = node;
  const content = (
    <>
      <span className={styles.name}>
        <Name>{node.name}</Name>
      </span>
      <span className={styles.detail}>{detail}</span>
      <Marks node={node} />
    </>
  );
  const className = classNames(styles.node, isStep && styles.step);
  if (onSelect === undefined || line === null) return <div className={className}>{content}</div>;
  return (
    <button type="button" className={className} title={`Go to line ${line}`} onClick={() => onSelect(line)}>
      {content}
    </button>
  );
}

/** What decides whether and how often a node runs. */
function Marks({ node }: { readonly node: Named }) {
  const { when, loop } = node;
  if (when === null && loop === null) return null;
  return (
    <span className={styles.marks}>
      {loop !== null && (
        <Badge icon="retry" title="Runs several times">
          {loop.instances === null ? loop.kind : `${loop.kind} × ${loop.instances}`}
        </Badge>
      )}
      {when !== null && (
        <Badge icon="branch" title={when.condition ?? undefined}>
          {when.condition === null ? `On ${when.status.toLowerCase()}` : "Condition"}
        </Badge>
      )}
    </span>
  );
}

function detailOfStage(stage: Extract<PlanNode, { readonly kind: "Stage" }>): string {
  const target = [stage.service, stage.environment].filter((one) => one !== null).join(" → ");
  if (target !== "") return target;
  return stage.pipeline === null ? stage.type : `Pipeline ${stage.pipeline.identifier}`;
}

import type { RunNode } from "../../../components/execution-store.ts";
import { kindOf } from "../../../components/run-graph/node-kind.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { useNode } from "../../../components/use-execution.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Name } from "../../../ui/name.tsx";
import { Duration } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import type { NodeTab } from "./execution-search.ts";
import styles from "./execution-page.module.css";
import { NodeActions } from "./node-actions.tsx";
import { NodeAttention } from "./node-attention.tsx";
import { NodeTabs } from "./node-tabs.tsx";

type NodePanelProps = {
  readonly id: string;
  readonly tab: NodeTab | undefined;
  readonly onTab: (tab: NodeTab) => void;
  readonly onClose: () => void;
};

/** Everything about the selected stage, group or step; what is wrong or waits stands first. */
export function NodePanel({ id, tab, onTab, onClose }: NodePanelProps) {
  const node = useNode(id);
  if (node === undefined) return null;
  return (
    <section className={styles.block} aria-label={`${kindOf(node)} ${visibleText(node.name)}`}>
      <header className={styles.panelHeader}>
        <h2 className={styles.panelTitle} title={visibleText(node.name)}>
          <Name>{node.name}</Name>
        </h2>
        <div className={styles.panelActions}>
          <NodeActions node={node} />
          <IconButton icon="close" size="small" label="Show the whole execution" onClick={onClose} />
        </div>
        <PanelMeta node={node} />
      </header>
      <NodeAttention node={node} />
      <NodeTabs node={node} tab={tab} onTab={onTab} />
    </section>
  );
}

function PanelMeta({ node }: { readonly node: RunNode }) {
  const { startTs, endTs, status } = node;
  return (
    <div className={styles.panelMeta}>
      <StatusBadge status={status} />
      <span>{kindOf(node)}</span>
      {startTs !== null && status !== "Skipped" && <Duration startedAt={startTs} endedAt={endTs ?? undefined} />}
    </div>
  );
}

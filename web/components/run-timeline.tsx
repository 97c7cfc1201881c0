import { useMemo, useSyncExternalStore } from "react";
import { Name } from "../ui/name.tsx";
import tones from "../ui/tone.module.css";
import { VirtualList } from "../ui/virtual-list.tsx";
import { classNames } from "../util/class-names.ts";
import { formatDuration } from "../util/duration.ts";
import { currentSecond, subscribeToTicks } from "../util/ticker.ts";
import { visibleText } from "../util/visible-text.ts";
import { lookOf } from "./execution-status.ts";
import type { ExecutionStore, RunNode } from "./execution-store.ts";
import { NodeDuration } from "./run-graph/node-duration.tsx";
import { shownChildren } from "./run-graph/node-kind.ts";
import styles from "./run-timeline.module.css";
import { StatusIcon } from "./status-icon.tsx";
import { useNode, useStore, useStructure, useSummary } from "./use-execution.ts";

type RunTimelineProps = {
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
};

type Row = { readonly id: string; readonly depth: number };

/** Every stage, group and step as a bar from its start to its end. */
export function RunTimeline({ selected, onSelect }: RunTimelineProps) {
  const store = useStore();
  const { rootId, version } = useStructure();
  const rows = useMemo(
    () => (rootId === undefined ? [] : rowsBelow(store, rootId, 0)),
    // The version stands for the content of the store.
    [store, rootId, version],
  );
  const summary = useSummary();
  const startedAt = summary?.startTs ?? undefined;
  const now = useSyncExternalStore(subscribeToTicks, () => (summary?.endTs == null ? currentSecond() : 0));
  if (startedAt === undefined) return <p className={styles.none}>Nothing has started yet.</p>;
  const range = { from: startedAt, length: Math.max(1_000, (summary?.endTs ?? now) - startedAt) };
  return (
    <div className={styles.timeline}>
      <div className={styles.scale} aria-hidden>
        {[0, 0.25, 0.5, 0.75].map((part) => (
          <span key={part}>{part === 0 ? "0s" : formatDuration(range.length * part)}</span>
        ))}
      </div>
      <VirtualList
        label="Timeline"
        items={rows}
        itemKey={({ id }) => id}
        estimatedHeight={28}
        height={`min(${rows.length * 28 + 4}px, 70dvh)`}
        renderItem={({ id, depth }) => (
          <TimelineRow id={id} depth={depth} range={range} isSelected={id === selected} onSelect={onSelect} />
        )}
      />
    </div>
  );
}

/** Sections and parallel lists have no line of their own: their children are enough. */
function rowsBelow(store: ExecutionStore, id: string, depth: number): readonly Row[] {
  return shownChildren(store, id).flatMap((child) => {
    const kind = store.node(child)?.stepType;
    return kind === "NG_SECTION" || kind === "FORK"
      ? rowsBelow(store, child, depth)
      : [{ id: child, depth }, ...rowsBelow(store, child, depth + 1)];
  });
}

type Range = { readonly from: number; readonly length: number };
type TimelineRowProps = Row & {
  readonly range: Range;
  readonly isSelected: boolean;
  readonly onSelect: (id: string) => void;
};

function TimelineRow({ id, depth, range, isSelected, onSelect }: TimelineRowProps) {
  const node = useNode(id);
  if (node === undefined) return null;
  return (
    <button
      type="button"
      className={classNames(styles.row, isSelected && styles.selected)}
      aria-current={isSelected ? "true" : undefined}
      title={visibleText(node.name)}
      onClick={() => onSelect(id)}
    >
      <span className={styles.label} style={{ paddingInlineStart: `${Math.min(depth, 8) * 0.75}rem` }}>
        <StatusIcon status={node.status} size={14} />
        <span className={styles.name}>
          <Name>{node.name}</Name>
        </span>
      </span>
      <span className={styles.track}>
        <Bar node={node} range={range} />
      </span>
      <span className={styles.duration}>
        <NodeDuration node={node} />
      </span>
    </button>
  );
}

function Bar({ node: { startTs, endTs, status }, range }: { readonly node: RunNode; readonly range: Range }) {
  if (startTs === null || status === "Skipped" || status === "NotStarted") return null;
  const { from, length } = range;
  const start = Math.min(1, Math.max(0, (startTs - from) / length));
  const end = endTs === null ? 1 : Math.min(1, Math.max(start, (endTs - from) / length));
  return (
    <span
      className={classNames(styles.bar, tones[lookOf(status).tone])}
      style={{ insetInlineStart: `${start * 100}%`, width: `${(end - start) * 100}%` }}
    />
  );
}

import { Duration } from "../../ui/time.tsx";
import { formatDuration } from "../../util/duration.ts";
import type { RunNode } from "../execution-store.ts";
import styles from "./run-graph.module.css";

/** How long the node took, or takes so far. Ended nodes need no timer. */
export function NodeDuration({ node: { startTs, endTs, status } }: { readonly node: RunNode }) {
  if (startTs === null || status === "Skipped" || status === "NotStarted") return null;
  return (
    <span className={styles.duration}>
      {endTs === null ? <Duration startedAt={startTs} /> : formatDuration(endTs - startTs)}
    </span>
  );
}

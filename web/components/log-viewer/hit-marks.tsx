import { useMemo } from "react";
import { hitParts } from "./search/log-search.ts";
import styles from "./log-viewer.module.css";

/** As fine as a scroll bar can show them. */
const PARTS = 200;

type HitMarksProps = {
  readonly hits: readonly number[];
  /** Counts the answers: the hits are one list that grows. */
  readonly revision: number;
  readonly totalLines: number;
};

/** Where in the log the hits of the search are, beside the scroll bar. */
export function HitMarks({ hits, revision, totalLines }: HitMarksProps) {
  const parts = useMemo(() => hitParts(hits, totalLines, PARTS), [hits, revision, totalLines]);
  return (
    <div className={styles.marks} aria-hidden>
      {parts.map((part) => (
        <span key={part} className={styles.mark} style={{ insetBlockStart: `${(part / PARTS) * 100}%` }} />
      ))}
    </div>
  );
}

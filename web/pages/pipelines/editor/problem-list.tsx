import type { DocumentFault } from "../../../api/api-error.ts";
import { Icon } from "../../../ui/icon.tsx";
import styles from "./pipeline-editor.module.css";

type ProblemListProps = {
  readonly faults: readonly DocumentFault[];
  readonly onSelect: (line: number, column: number) => void;
};

export function ProblemList({ faults, onSelect }: ProblemListProps) {
  if (faults.length === 0)
    return (
      <p className={styles.note}>
        <Icon name="check-circle" size={14} /> Nothing is wrong with this document.
      </p>
    );
  return (
    <ul className={styles.problems}>
      {faults.map((fault, index) => (
        // The same message may come twice for one place.
        <li key={`${fault.path} ${index}`}>
          <button type="button" className={styles.problem} onClick={() => onSelect(fault.line ?? 1, fault.column ?? 1)}>
            <span className={fault.severity === "warning" ? styles.warning : styles.error}>
              <Icon
                name={fault.severity === "warning" ? "warning" : "error"}
                size={14}
                label={fault.severity === "warning" ? "Warning" : "Error"}
              />
            </span>
            <span className={styles.problemText}>
              {fault.message}
              {fault.hint !== undefined && <span className={styles.about}>{fault.hint}</span>}
              <span className={styles.about}>
                {fault.line === undefined ? "" : `Line ${fault.line} · `}
                <code>{fault.path}</code>
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

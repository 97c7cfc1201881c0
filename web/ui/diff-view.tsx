import { useMemo, useState } from "react";
import { classNames } from "../util/class-names.ts";
import { foldUnchanged, type DiffPart } from "../util/diff-hunks.ts";
import { diffLines, type DiffLine } from "../util/line-diff.ts";
import styles from "./diff-view.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

type DiffViewProps = {
  /** What is compared: Version 3 and version 4 */
  readonly label: string;
  readonly before: string;
  readonly after: string;
};

/** Two texts in one column: lines that were removed, added, and some of those around them. */
export function DiffView({ label, before, after }: DiffViewProps) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const parts = useMemo(() => foldUnchanged(lines), [lines]);
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  const [removed, added] = [count("removed"), count("added")];
  if (removed + added === 0) return <p className={styles.equal}>The texts are equal.</p>;
  return (
    <figure className={styles.diff}>
      <figcaption className={styles.summary}>
        {label}
        <span className={styles.counts}>
          <span className={styles.plus}>+{added}</span> <span className={styles.minus}>−{removed}</span>
        </span>
      </figcaption>
      <div className={styles.scroller} tabIndex={0} role="region" aria-label={label}>
        <table className={styles.table}>
          <caption>
            <VisuallyHidden>{label}</VisuallyHidden>
          </caption>
          {parts.map((part, index) => (
            <PartBody key={`${index}-${part.lines.length}`} part={part} />
          ))}
        </table>
      </div>
    </figure>
  );
}

function PartBody({ part }: { readonly part: DiffPart }) {
  const [isOpen, setIsOpen] = useState(part.kind === "lines");
  return (
    <tbody>
      {isOpen ? (
        part.lines.map((line) => <LineRow key={`${line.before}-${line.after}`} line={line} />)
      ) : (
        <tr>
          <td className={styles.fold} colSpan={4}>
            <button type="button" className={styles.unfold} onClick={() => setIsOpen(true)}>
              Show {part.lines.length} unchanged lines
            </button>
          </td>
        </tr>
      )}
    </tbody>
  );
}

const SIGNS = { same: "", removed: "−", added: "+" } as const;
const WORDS = { same: "", removed: "Removed: ", added: "Added: " } as const;

function LineRow({ line: { kind, text, before, after } }: { readonly line: DiffLine }) {
  return (
    <tr className={classNames(styles.line, styles[kind])}>
      <td className={styles.number}>{before}</td>
      <td className={styles.number}>{after}</td>
      <td className={styles.sign} aria-hidden>
        {SIGNS[kind]}
      </td>
      <td className={styles.text}>
        {kind !== "same" && <VisuallyHidden>{WORDS[kind]}</VisuallyHidden>}
        {text}
      </td>
    </tr>
  );
}

import styles from "./progress-bar.module.css";

type ProgressBarProps = {
  /** What progresses. */
  readonly label: string;
  /** From 0 to 1. Without it the end is not known. */
  readonly value?: number | undefined;
};

export function ProgressBar({ label, value }: ProgressBarProps) {
  return <progress className={styles.bar} aria-label={label} max={1} value={value} />;
}

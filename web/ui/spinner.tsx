import styles from "./spinner.module.css";

/** A turning ring for work that takes less than a few seconds. Longer work has a progress bar or a skeleton. */
export function Spinner({ size = 16, label }: { readonly size?: number; readonly label?: string }) {
  const naming = label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label };
  return (
    <svg className={styles.spinner} width={size} height={size} viewBox="0 0 16 16" {...naming}>
      <circle className={styles.track} cx="8" cy="8" r="6" />
      <path d="M8 2a6 6 0 0 1 6 6" />
    </svg>
  );
}

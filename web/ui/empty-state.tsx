import type { ReactNode } from "react";
import styles from "./empty-state.module.css";
import { Icon, type IconName } from "./icon.tsx";

type EmptyStateProps = {
  readonly icon?: IconName | undefined;
  /** What is not there: No triggers yet */
  readonly title: string;
  /** What it is good for, and what to do next. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
};

export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      {icon !== undefined && (
        <span className={styles.icon}>
          <Icon name={icon} size={24} />
        </span>
      )}
      <p className={styles.title}>{title}</p>
      {children !== undefined && <div className={styles.text}>{children}</div>}
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

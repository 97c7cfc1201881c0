import type { ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { Icon, type IconName } from "./icon.tsx";
import styles from "./notice.module.css";
import tones from "./tone.module.css";

type NoticeTone = "running" | "success" | "waiting" | "failed";

const ICONS: Readonly<Record<NoticeTone, IconName>> = {
  running: "info",
  success: "check-circle",
  waiting: "warning",
  failed: "error",
};

type NoticeProps = {
  /** `running` informs, `waiting` warns. */
  readonly tone?: NoticeTone | undefined;
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Across the whole width of the page, without corners. */
  readonly banner?: boolean | undefined;
};

/** A message that belongs to the page or to a part of it, and stays. */
export function Notice({ tone = "running", title, children, actions, banner }: NoticeProps) {
  return (
    <div
      className={classNames(styles.notice, tones[tone], banner === true && styles.banner)}
      role={tone === "failed" ? "alert" : "status"}
    >
      <span className={styles.icon}>
        <Icon name={ICONS[tone]} />
      </span>
      <div className={styles.text}>
        {title !== undefined && <p className={styles.title}>{title}</p>}
        {children}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

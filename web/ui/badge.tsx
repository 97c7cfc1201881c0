import type { ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./badge.module.css";
import { Icon, type IconName } from "./icon.tsx";
import type { Tone } from "./tone.ts";
import tones from "./tone.module.css";

type BadgeProps = {
  readonly tone?: Tone | undefined;
  /** One of the icon set, or a shape of its own. */
  readonly icon?: IconName | undefined;
  readonly shape?: ReactNode;
  readonly children: ReactNode;
  readonly title?: string | undefined;
};

/** A short word about the state of something. */
export function Badge({ tone = "neutral", icon, shape, children, title }: BadgeProps) {
  return (
    <span className={classNames(styles.badge, tones[tone])} title={title}>
      {shape}
      {icon !== undefined && <Icon name={icon} size={12} />}
      <span className={styles.text}>{children}</span>
    </span>
  );
}

/** How many there are, beside a tab or a heading. */
export function Count({ children }: { readonly children: ReactNode }) {
  return <span className={styles.count}>{children}</span>;
}

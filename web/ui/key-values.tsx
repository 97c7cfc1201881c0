import type { ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./key-values.module.css";

export type KeyValue = {
  readonly key: string;
  readonly label?: ReactNode;
  /** Undefined and null leave the line out. */
  readonly value: ReactNode;
};

type KeyValuesProps = {
  readonly items: readonly KeyValue[];
  /** `rows` puts each value beside its key, `columns` below it. */
  readonly layout?: "rows" | "columns" | undefined;
};

export function KeyValues({ items, layout = "rows" }: KeyValuesProps) {
  return (
    <dl className={classNames(styles.list, styles[layout])}>
      {items
        .filter(({ value }) => value !== undefined && value !== null)
        .map(({ key, label, value }) => (
          <div key={key} className={styles.item}>
            <dt className={styles.key}>{label ?? key}</dt>
            <dd className={styles.value}>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

import type { ComponentProps } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./control.module.css";
import { useFieldProps } from "./form-field.tsx";

type DateFieldProps = Omit<ComponentProps<"input">, "type" | "size" | "value" | "onChange"> & {
  /** `2026-03-04`, or `2026-03-04T14:05` in the reader's time zone; empty if none is chosen. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly withTime?: boolean | undefined;
};

export function DateField({ value, onChange, withTime, className, ...rest }: DateFieldProps) {
  return (
    <input
      {...useFieldProps()}
      {...rest}
      type={withTime === true ? "datetime-local" : "date"}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={classNames(styles.control, className)}
    />
  );
}

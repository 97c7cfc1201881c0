import type { ComponentProps, ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./checkbox.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

type CheckboxProps = Omit<ComponentProps<"input">, "type" | "onChange" | "checked"> & {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  /** Some, but not all, of what the box stands for. */
  readonly indeterminate?: boolean | undefined;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** The label is only read out, as in the rows of a table. */
  readonly hideLabel?: boolean | undefined;
};

export function Checkbox(props: CheckboxProps) {
  const { onChange, indeterminate = false, label, hint, hideLabel, className, ...rest } = props;
  return (
    <label className={classNames(styles.label, className)}>
      <input
        {...rest}
        type="checkbox"
        className={styles.box}
        ref={(input) => {
          if (input) input.indeterminate = indeterminate;
        }}
        onChange={(event) => onChange(event.target.checked)}
      />
      {hideLabel === true ? (
        <VisuallyHidden>{label}</VisuallyHidden>
      ) : (
        <span>
          {label}
          {hint !== undefined && <span className={styles.hint}>{hint}</span>}
        </span>
      )}
    </label>
  );
}

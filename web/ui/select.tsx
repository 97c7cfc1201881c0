import type { ComponentProps } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./control.module.css";
import { useFieldProps } from "./form-field.tsx";

export type Option<Value extends string = string> = {
  readonly value: Value;
  readonly label: string;
  readonly disabled?: boolean;
};

type SelectProps<Value extends string> = Omit<ComponentProps<"select">, "value" | "onChange" | "size"> & {
  readonly options: readonly Option<Value>[];
  readonly value: Value | "";
  readonly onChange: (value: Value) => void;
  /** Shown while nothing is selected. */
  readonly placeholder?: string | undefined;
  readonly size?: "small" | "normal" | undefined;
};

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { options, value, onChange, placeholder, size, className, ...rest } = props;
  return (
    <select
      {...useFieldProps()}
      {...rest}
      value={value}
      onChange={(event) => {
        const chosen = options.find((option) => option.value === event.target.value);
        if (chosen) onChange(chosen.value);
      }}
      className={classNames(styles.control, styles.select, size === "small" && styles.small, className)}
    >
      {placeholder !== undefined && (
        <option value="" disabled>
          {placeholder}
        </option>
      )}
      {options.map((option) => (
        <option key={option.value} value={option.value} disabled={option.disabled}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

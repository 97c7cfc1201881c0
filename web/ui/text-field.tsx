import type { ComponentProps } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./control.module.css";
import { useFieldProps } from "./form-field.tsx";

export type TextFieldProps = Omit<ComponentProps<"input">, "size"> & {
  readonly type?: "text" | "email" | "password" | "url" | "number" | "search" | "tel";
  /** For identifiers, expressions and other code. */
  readonly mono?: boolean | undefined;
  readonly size?: "small" | "normal" | undefined;
};

export function TextField({ type = "text", mono, size, className, ...rest }: TextFieldProps) {
  return (
    <input
      {...useFieldProps()}
      autoComplete="off"
      spellCheck={mono === true ? false : undefined}
      {...rest}
      type={type}
      className={classNames(styles.control, mono === true && styles.mono, size === "small" && styles.small, className)}
    />
  );
}

import type { ComponentProps } from "react";
import { classNames } from "../util/class-names.ts";
import styles from "./control.module.css";
import { useFieldProps } from "./form-field.tsx";

type TextAreaProps = ComponentProps<"textarea"> & { readonly mono?: boolean | undefined };

export function TextArea({ mono, className, ...rest }: TextAreaProps) {
  return (
    <textarea
      {...useFieldProps()}
      rows={4}
      spellCheck={mono === true ? false : undefined}
      {...rest}
      className={classNames(styles.control, styles.area, mono === true && styles.mono, className)}
    />
  );
}

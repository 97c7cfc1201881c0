import { createContext, useContext, useId, type ReactNode } from "react";
import styles from "./form-field.module.css";
import { Icon } from "./icon.tsx";

type FieldContext = {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
  readonly required: boolean | undefined;
};

const Context = createContext<FieldContext | undefined>(undefined);

/** The attributes that connect a control with the label, hint and error of the field around it. */
export function useFieldProps(): Partial<FieldContext> {
  return useContext(Context) ?? {};
}

type FormFieldProps = {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with the value and what to do. */
  readonly error?: ReactNode;
  readonly required?: boolean | undefined;
  /** Says that the field may stay empty, in forms in which most fields may not. */
  readonly optional?: boolean | undefined;
  readonly children: ReactNode;
};

/** A label, one control, a hint and an error. The control must be one of this folder. */
export function FormField({ label, hint, error, required, optional, children }: FormFieldProps) {
  const id = useId();
  const hasHint = hint !== undefined && hint !== null;
  const hasError = error !== undefined && error !== null && error !== false;
  const describedBy = [hasHint && `${id}-hint`, hasError && `${id}-error`].filter((it) => it !== false).join(" ");
  const context: FieldContext = {
    id,
    "aria-describedby": describedBy === "" ? undefined : describedBy,
    "aria-invalid": hasError ? true : undefined,
    required,
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {optional === true && <span className={styles.optional}>optional</span>}
      </label>
      <Context value={context}>{children}</Context>
      {hasHint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {hasError && (
        <p className={styles.error} id={`${id}-error`}>
          <Icon name="error" size={14} />
          <span>{error}</span>
        </p>
      )}
    </div>
  );
}

/** Fields below each other, with the width that forms have. */
export function FormLayout({ children }: { readonly children: ReactNode }) {
  return <div className={styles.layout}>{children}</div>;
}

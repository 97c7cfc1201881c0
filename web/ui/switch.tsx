import type { ReactNode } from "react";
import styles from "./switch.module.css";

type SwitchProps = {
  readonly checked: boolean;
  /** The change takes effect at once. What a form saves later is a checkbox. */
  readonly onChange: (checked: boolean) => void;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly disabled?: boolean | undefined;
};

export function Switch({ checked, onChange, label, hint, disabled }: SwitchProps) {
  return (
    <label className={styles.label}>
      <input
        type="checkbox"
        role="switch"
        className={styles.switch}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span className={styles.hint}>{hint}</span>}
      </span>
    </label>
  );
}

import { useEffect, useRef, useState } from "react";
import { classNames } from "../util/class-names.ts";
import controls from "./control.module.css";
import { Icon } from "./icon.tsx";
import styles from "./search-field.module.css";

type SearchFieldProps = {
  /** The accessible name, and the placeholder: Search pipelines */
  readonly label: string;
  readonly value: string;
  /** Called when typing pauses, and at once on Enter. */
  readonly onSearch: (text: string) => void;
  readonly delayMs?: number | undefined;
};

export function SearchField({ label, value, onSearch, delayMs = 250 }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  // The address may change from outside, as by the back button. The field's own report is no such change.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setText(value);
  }, [value]);
  const report = useRef(onSearch);
  useEffect(() => {
    report.current = onSearch;
  });
  useEffect(() => {
    if (text === reported.current) return undefined;
    const timer = setTimeout(() => {
      reported.current = text;
      report.current(text);
    }, delayMs);
    return () => clearTimeout(timer);
  }, [text, delayMs]);
  return (
    <div className={styles.field}>
      <span className={styles.icon}>
        <Icon name="search" size={14} />
      </span>
      <input
        type="search"
        className={classNames(controls.control, styles.input)}
        aria-label={label}
        placeholder={label}
        value={text}
        maxLength={500}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          reported.current = text;
          onSearch(text);
        }}
      />
    </div>
  );
}

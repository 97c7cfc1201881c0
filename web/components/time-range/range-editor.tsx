import { DateField } from "../../ui/date-field.tsx";
import { FormField } from "../../ui/form-field.tsx";
import { RadioGroup } from "../../ui/radio-group.tsx";
import type { FilterEditorProps } from "../filter-bar.tsx";
import styles from "./range-editor.module.css";
import { daysOf, PRESETS } from "./time-range.ts";

/** A filter by time: one of the usual periods, or days. */
export function RangeEditor({ values, onChange }: FilterEditorProps) {
  const value = values[0] ?? "";
  const [from, to] = daysOf(value) ?? ["", ""];
  const changeDays = (nextFrom: string, nextTo: string): void =>
    onChange(nextFrom === "" && nextTo === "" ? [] : [`${nextFrom}..${nextTo}`]);
  return (
    <div className={styles.range}>
      <RadioGroup
        label="Period"
        options={PRESETS}
        value={PRESETS.find((preset) => preset.value === value)?.value}
        onChange={(preset) => onChange([preset])}
      />
      <div className={styles.days}>
        <FormField label="From">
          <DateField value={from} max={to} onChange={(day) => changeDays(day, to)} />
        </FormField>
        <FormField label="To">
          <DateField value={to} min={from} onChange={(day) => changeDays(from, day)} />
        </FormField>
      </div>
    </div>
  );
}

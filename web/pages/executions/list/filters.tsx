import type { May, Scope } from "../../../api/permissions.ts";
import { lookOf } from "../../../components/execution-status.ts";
import type { Filter, FilterEditorProps, FilterValues } from "../../../components/filter-bar.tsx";
import { DateField } from "../../../ui/date-field.tsx";
import { FormField } from "../../../ui/form-field.tsx";
import { RadioGroup } from "../../../ui/radio-group.tsx";
import { LIST_FILTERS, type ExecutionsSearch } from "./executions-search.ts";
import { pickerFilters } from "./pickers.tsx";
import styles from "./pickers.module.css";
import { daysOf, describeRange, PRESETS } from "./time-range.ts";

/** The statuses of executions, in the order in which they are looked for. */
const STATUSES = [
  "Running",
  "Failed",
  "Success",
  "ApprovalWaiting",
  "InterventionWaiting",
  "InputWaiting",
  "ResourceWaiting",
  "Queued",
  "Pausing",
  "Paused",
  "Aborted",
  "Expired",
  "ApprovalRejected",
  "IgnoreFailed",
  "Errored",
];

export const TRIGGERS: ReadonlyMap<string, string> = new Map([
  ["MANUAL", "Started by hand"],
  ["WEBHOOK_CUSTOM", "Webhook"],
]);

export function executionFilters(scope: Required<Scope>, may: May): readonly Filter[] {
  const [pipeline, person, environment, service] = pickerFilters(scope, may);
  const status: Filter = {
    key: "status",
    label: "Status",
    options: STATUSES.map((value) => ({ value, label: lookOf(value).label })),
  };
  const trigger: Filter = {
    key: "trigger",
    label: "Trigger",
    options: [...TRIGGERS].map(([value, label]) => ({ value, label })),
  };
  const started: Filter = {
    key: "started",
    label: "Started",
    describe: describeRange,
    editor: (props) => <RangeEditor {...props} />,
  };
  return [status, pipeline, started, trigger, person, environment, service].filter((one) => one !== undefined);
}

function RangeEditor({ values, onChange }: FilterEditorProps) {
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

export function valuesOf(search: ExecutionsSearch): FilterValues {
  const { pipeline, started } = search;
  return {
    ...Object.fromEntries(LIST_FILTERS.flatMap((key) => (search[key] ? [[key, search[key]]] : []))),
    ...(pipeline !== undefined && { pipeline: [pipeline] }),
    ...(started !== undefined && { started: [started] }),
  };
}

export function searchOf(values: FilterValues, q: string | undefined): ExecutionsSearch {
  const pipeline = values["pipeline"]?.[0];
  const started = values["started"]?.[0];
  return {
    ...(q !== undefined && { q }),
    ...Object.fromEntries(LIST_FILTERS.flatMap((key) => (values[key] ? [[key, values[key]]] : []))),
    ...(pipeline !== undefined && { pipeline }),
    ...(started !== undefined && { started }),
  };
}

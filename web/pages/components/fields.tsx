import { useState } from "react";
import { FilterBar, type Filter, type FilterValues } from "../../components/filter-bar.tsx";
import { Card } from "../../ui/card.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Combobox } from "../../ui/combobox.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { FormField } from "../../ui/form-field.tsx";
import { RadioGroup, SegmentedControl } from "../../ui/radio-group.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Select } from "../../ui/select.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { TextField } from "../../ui/text-field.tsx";
import styles from "./components-page.module.css";
import { LONG_NAME } from "./samples.ts";

const TYPES = [
  { value: "PreProduction", label: "Pre-production" },
  { value: "Production", label: "Production" },
] as const;

const PIPELINES = [
  { value: "deploy_shop", label: "Deploy shop", hint: "deploy_shop" },
  { value: "build_images", label: "Build images", hint: "build_images" },
  { value: "archived", label: "Archived pipeline", hint: "cannot be chosen", disabled: true },
  { value: "long", label: LONG_NAME },
];

const FILTERS: readonly Filter[] = [
  {
    key: "status",
    label: "Status",
    options: ["Running", "Success", "Failed", "Aborted"].map((value) => ({ value, label: value })),
  },
  { key: "pipeline", label: "Pipeline" },
  {
    key: "since",
    label: "Since",
    editor: ({ values, onChange }) => (
      <DateField
        aria-label="Since"
        value={values[0] ?? ""}
        onChange={(value) => onChange(value === "" ? [] : [value])}
      />
    ),
  },
];

export function Fields() {
  return (
    <>
      <Card title="Fields">
        <div className={styles.columns}>
          <TextFields />
          <Choices />
        </div>
      </Card>
      <Filters />
    </>
  );
}

function TextFields() {
  const [date, setDate] = useState("2026-03-04");
  const [time, setTime] = useState("2026-03-04T14:05");
  return (
    <>
      <FormField label="Name" hint="Shown in lists.">
        <TextField defaultValue="Deploy shop" />
      </FormField>
      <FormField
        label="Identifier"
        required
        error="Identifier 'deploy shop' contains a space. Use letters, digits and _."
      >
        <TextField mono defaultValue="deploy shop" />
      </FormField>
      <FormField label="Description" optional>
        <TextArea placeholder="What the pipeline is for" />
      </FormField>
      <FormField label="Inputs">
        <TextArea mono defaultValue={"tag: 1.4.2\nregion: eu-west-1"} />
      </FormField>
      <FormField label="Disabled">
        <TextField disabled defaultValue="cannot be changed" />
      </FormField>
      <FormField label="Read-only">
        <TextField readOnly defaultValue={LONG_NAME} />
      </FormField>
      <FormField label="Expires on">
        <DateField value={date} onChange={setDate} />
      </FormField>
      <FormField label="Starts at">
        <DateField withTime value={time} onChange={setTime} />
      </FormField>
    </>
  );
}

function Choices() {
  const [type, setType] = useState<(typeof TYPES)[number]["value"] | "">("");
  const [pipeline, setPipeline] = useState("build_images");
  const [checked, setChecked] = useState(true);
  const [isOn, setIsOn] = useState(true);
  const [mode, setMode] = useState<"all" | "failed">("all");
  const [view, setView] = useState<"graph" | "list" | "timeline">("graph");
  return (
    <>
      <FormField label="Type">
        <Select options={TYPES} value={type} onChange={setType} placeholder="Select a type" />
      </FormField>
      <FormField label="Pipeline" hint="Type to filter.">
        <Combobox options={PIPELINES} value={pipeline} onChange={setPipeline} />
      </FormField>
      <FormField label="Loading options">
        <Combobox options={undefined} value="" onChange={() => undefined} placeholder="Search users" />
      </FormField>
      <div className={styles.list}>
        <Checkbox
          label="Run in parallel"
          hint="Stages wait for each other otherwise."
          checked={checked}
          onChange={setChecked}
        />
        <Checkbox label="Some selected" indeterminate checked={false} onChange={() => undefined} />
        <Checkbox label="Disabled" disabled checked={false} onChange={() => undefined} />
      </div>
      <div className={styles.list}>
        <Switch label="Trigger enabled" hint="Webhooks are refused otherwise." checked={isOn} onChange={setIsOn} />
        <Switch label="Off" checked={!isOn} onChange={(next) => setIsOn(!next)} />
        <Switch label="Disabled" disabled checked onChange={() => undefined} />
      </div>
      <RadioGroup
        label="Stages to run again"
        options={[
          { value: "all", label: "All stages", hint: "Also those that succeeded." },
          { value: "failed", label: "Failed stages only" },
        ]}
        value={mode}
        onChange={setMode}
      />
      <div>
        <SegmentedControl
          label="View"
          options={[
            { value: "graph", label: "Graph" },
            { value: "list", label: "List" },
            { value: "timeline", label: "Timeline" },
          ]}
          value={view}
          onChange={setView}
        />
      </div>
    </>
  );
}

function Filters() {
  const [text, setText] = useState("");
  const [values, setValues] = useState<FilterValues>({ status: ["Failed", "Running", "Aborted"] });
  return (
    <Card title="Search and filters">
      <FilterBar
        filters={FILTERS}
        values={values}
        onChange={setValues}
        search={<SearchField label="Search executions" value={text} onSearch={setText} />}
      />
    </Card>
  );
}

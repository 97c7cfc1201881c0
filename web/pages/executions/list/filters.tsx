import type { May, Scope } from "../../../api/permissions.ts";
import { lookOf } from "../../../components/execution-status.ts";
import type { Filter, FilterValues } from "../../../components/filter-bar.tsx";
import { RangeEditor } from "../../../components/time-range/range-editor.tsx";
import { describeRange } from "../../../components/time-range/time-range.ts";
import { LIST_FILTERS, type ExecutionsSearch } from "./executions-search.ts";
import { pickerFilters } from "./pickers.tsx";

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
  const [pipeline, person, environment, service, webhook] = pickerFilters(scope, may);
  const status: Filter = {
    key: "status",
    label: "Status",
    options: STATUSES.map((value) => ({ value, label: lookOf(value).label })),
  };
  const trigger: Filter = {
    key: "trigger",
    label: "How it started",
    options: [...TRIGGERS].map(([value, label]) => ({ value, label })),
  };
  const started: Filter = {
    key: "started",
    label: "Started",
    describe: describeRange,
    editor: (props) => <RangeEditor {...props} />,
  };
  return [status, pipeline, started, trigger, webhook, person, environment, service].filter((one) => one !== undefined);
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

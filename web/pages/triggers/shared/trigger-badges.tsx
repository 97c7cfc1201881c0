import { ToneIcon } from "../../../components/status-icon.tsx";
import { Badge } from "../../../ui/badge.tsx";
import type { Tone } from "../../../ui/tone.ts";

export function EnabledBadge({ enabled }: { readonly enabled: boolean }) {
  const tone = enabled ? "success" : "skipped";
  return (
    <Badge tone={tone} shape={<ToneIcon tone={tone} size={12} />}>
      {enabled ? "Enabled" : "Disabled"}
    </Badge>
  );
}

/** What became of an event; null until it is processed. */
const RESULTS: ReadonlyMap<string | null, { readonly tone: Tone; readonly label: string }> = new Map([
  [null, { tone: "queued", label: "Waiting" }],
  ["TARGET_EXECUTION_REQUESTED", { tone: "success", label: "Started" }],
  ["TRIGGER_DISABLED", { tone: "skipped", label: "Trigger disabled" }],
  ["TRIGGER_DELETED", { tone: "aborted", label: "Trigger deleted" }],
  ["INVALID_RUNTIME_INPUT_YAML", { tone: "failed", label: "Refused" }],
  ["EXCEPTION_WHILE_PROCESSING", { tone: "failed", label: "Failed" }],
]);

export function ResultBadge({ status }: { readonly status: string | null }) {
  const { tone, label } = RESULTS.get(status) ?? { tone: "neutral" as const, label: status ?? "" };
  return (
    <Badge tone={tone} shape={<ToneIcon tone={tone} size={12} />}>
      {label}
    </Badge>
  );
}

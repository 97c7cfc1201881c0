import { useQuery } from "@tanstack/react-query";
import type { DocumentFault } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { pipelineCheck } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { useDebounced } from "../../../util/use-debounced.ts";

export type Checked = DataOf<typeof pipelineCheck>;
export type Plan = NonNullable<Checked["plan"]>;
export type PlanNode = Plan["nodes"][number];

/** Longer than between two keys, shorter than a look at the graph. */
const PAUSE_MS = 300;

/** What saving the text would say, a moment after the last change. */
export function useCheck(scope: Required<Scope>, text: string) {
  const pipelineYaml = useDebounced(text, PAUSE_MS);
  const check = useQuery({
    ...dataQuery(pipelineCheck, { query: scope, body: { pipelineYaml } }),
    enabled: pipelineYaml.trim() !== "",
    placeholderData: (former) => former,
    // Each text is a key of its own.
    gcTime: 10_000,
  });
  return {
    checked: check.data,
    /** Whether the answer is about the text as it is now. */
    isCurrent: pipelineYaml === text && !check.isPlaceholderData && check.data !== undefined,
    error: check.error,
    checkNow: check.refetch,
  };
}

export const faultsOf = (checked: Checked | undefined): readonly DocumentFault[] =>
  (checked?.faults ?? []).map((fault) => ({
    message: fault.message,
    path: fault.fqn,
    line: fault.line ?? undefined,
    column: fault.column ?? undefined,
    hint: fault.hintMessage ?? undefined,
    severity: fault.severity === "WARNING" ? "warning" : "error",
  }));

/** Filters as clients write them, in our words. Filters in a list, and keys in one filter, are ANDed. */
import { z } from "zod";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Status } from "../../engine/index.ts";
import type { ExecutionFilter } from "../store/executions.ts";
import { fromRestStatus } from "./status.ts";

export type IdFilter = {
  readonly operator: "EQUALS" | "IN" | "NOT_IN";
  readonly values?: readonly (string | null | undefined)[] | null | undefined;
};
export type TimeFilter = { readonly operator: "EQUALS" | "BEFORE" | "AFTER"; readonly value: number };
export type GraphqlFilter = {
  readonly pipeline?: IdFilter | null | undefined;
  readonly startTime?: TimeFilter | null | undefined;
  readonly endTime?: TimeFilter | null | undefined;
};

type Draft = { -readonly [K in keyof ExecutionFilter]: ExecutionFilter[K] };

/** One filter for all of them. An id that is none matches nothing. */
export function fromGraphql(filters: readonly (GraphqlFilter | null | undefined)[]): ExecutionFilter {
  const draft: Draft = {};
  for (const filter of filters) {
    const { pipeline, startTime, endTime } = filter ?? {};
    if (pipeline) addPipelines(draft, pipeline);
    if (startTime) addTime(draft, "started", startTime);
    if (endTime) addTime(draft, "ended", endTime);
  }
  return draft;
}

function addPipelines(draft: Draft, filter: IdFilter): void {
  const ids = (filter.values ?? []).flatMap((text): Uuid | Uuid[] => (text == null ? undefined : fromWire(text)) ?? []);
  if (filter.operator === "NOT_IN") draft.notPipelineIds = [...(draft.notPipelineIds ?? []), ...ids];
  else draft.pipelineIds = draft.pipelineIds ? draft.pipelineIds.filter((one) => ids.includes(one)) : ids;
}

function addTime(draft: Draft, what: "started" | "ended", { operator, value }: TimeFilter): void {
  switch (operator) {
    case "AFTER":
      draft[`${what}After`] = Math.max(value, draft[`${what}After`] ?? value);
      break;
    case "BEFORE":
      draft[`${what}Before`] = Math.min(value, draft[`${what}Before`] ?? value);
      break;
    case "EQUALS": {
      const other = draft[`${what}At`];
      draft[`${what}At`] = value;
      // Two different moments at once: nothing is before the first and after the second.
      if (other !== undefined && other !== value) draft[`${what}Before`] = Number.MIN_SAFE_INTEGER;
    }
  }
}

const unsupported = z.never().optional();
const status = z.string().transform((word, context): Status => {
  const known = fromRestStatus(word);
  if (!known) context.addIssue({ code: "custom", message: `'${word}' is no execution status` });
  return known ?? "failed";
});

/** The body of `execution/summary` (reference section 5.2). */
export const summaryFilter = z.strictObject({
  filterType: z.literal("PipelineExecution").optional(),
  status: z.array(status).max(20).nullish(),
  timeRange: z.strictObject({ startTime: z.int().nullish(), endTime: z.int().nullish() }).nullish(),
  pipelineName: unsupported,
  pipelineTags: unsupported,
  moduleProperties: unsupported,
  executionModeFilter: unsupported,
});

export function fromSummaryFilter(body: z.output<typeof summaryFilter>): ExecutionFilter {
  const { startTime, endTime } = body.timeRange ?? {};
  return {
    ...(body.status && body.status.length > 0 ? { statuses: body.status } : {}),
    // The range counts both of its ends.
    ...(startTime == null ? {} : { startedAfter: startTime - 1 }),
    ...(endTime == null ? {} : { startedBefore: endTime + 1 }),
  };
}

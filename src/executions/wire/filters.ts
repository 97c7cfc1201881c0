/** The body of `execution/summary`, in our words. */
import { z } from "zod";
import type { Status } from "../../engine/index.ts";
import type { ExecutionFilter } from "../store/conditions.ts";
import { fromRestStatus } from "./status.ts";

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
  return [
    ...(body.status && body.status.length > 0 ? [{ is: "statusIn" as const, value: body.status }] : []),
    // The range counts both of its ends.
    ...(startTime == null ? [] : [{ is: "startedAfter" as const, value: startTime - 1 }]),
    ...(endTime == null ? [] : [{ is: "startedBefore" as const, value: endTime + 1 }]),
  ];
}

/** Days and statistics, as REST shows them. */
import { z } from "zod";
import { moment, projectQuery } from "../../platform/http/request/queries.ts";
import { epochMs } from "../../platform/http/response/shapes.ts";
import { isTimeZone } from "../../steps/platform-approval/deadline.ts";
import { restStatus } from "../wire/status.ts";
import type { RunsSummary } from "./summary.ts";

const FINAL = ["succeeded", "ignored", "failed", "errored", "aborted", "expired", "rejected", "skipped"] as const;
const STATUSES = [
  "Success",
  "IgnoreFailed",
  "Failed",
  "Errored",
  "Aborted",
  "Expired",
  "ApprovalRejected",
  "Skipped",
] as const;

/** A range of time in days of a time zone. */
export const rangeQuery = projectQuery.extend({
  startTime: moment().describe("The range begins with the day of this moment, in epoch milliseconds."),
  endTime: moment().describe("The range ends with the day of this moment. It has 366 days at most."),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, "takes a time zone such as Europe/Berlin")
    .default("UTC")
    .describe("The time zone of the days, as in Europe/Berlin."),
});

export const dayShape = { date: z.string(), startTime: epochMs, endTime: epochMs };

const duration = z.int().nullable();
const summaryShape = {
  runs: z.int(),
  successRate: z.number().nullable().describe("The part with Success or IgnoreFailed, from 0 to 1."),
  durationP50: duration.describe("The median of the milliseconds from start to end, within 2.5 %."),
  durationP95: duration.describe("95 of 100 are not longer."),
  statuses: z.strictObject(
    Object.fromEntries(STATUSES.map((status) => [status, z.int()])) as Record<(typeof STATUSES)[number], z.ZodInt>,
  ),
};

export const statisticsShape = z.strictObject({
  timeZone: z.string(),
  days: z.array(z.strictObject({ ...dayShape, ...summaryShape })),
  total: z.strictObject(summaryShape),
});

export const summaryToWire = ({ runs, successRate, durationP50, durationP95, statuses }: RunsSummary) => ({
  ...{ runs, successRate, durationP50, durationP95 },
  statuses: Object.fromEntries(FINAL.map((status) => [restStatus(status), statuses[status] ?? 0])),
});

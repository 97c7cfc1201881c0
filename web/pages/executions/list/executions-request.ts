import type { ExecutionBody2 } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { Summary } from "../../../components/execution-store.ts";
import { rangeOf } from "../../../components/time-range/time-range.ts";
import type { ExecutionsSearch } from "./executions-search.ts";

export const PAGE_SIZE = 50;

export type Cursor = { readonly lastSeenExecutionId: string; readonly lastSeenStartTime: number };

export const writeCursor = (cursor: Cursor): string => `${cursor.lastSeenStartTime}-${cursor.lastSeenExecutionId}`;

export function readCursor(text: string | undefined): Cursor | undefined {
  const [, time, id] = /^(\d{1,15})-([\w-]{1,64})$/.exec(text ?? "") ?? [];
  return time === undefined || id === undefined
    ? undefined
    : { lastSeenStartTime: Number(time), lastSeenExecutionId: id };
}

/** The request for one page of the list. */
export function requestOf(scope: Required<Scope>, search: ExecutionsSearch, now: number) {
  const triggerTypes = search.trigger?.filter((type) => type === "MANUAL" || type === "WEBHOOK_CUSTOM");
  const body: ExecutionBody2 = {
    filterType: "PipelineExecution",
    ...(search.status && { status: search.status }),
    ...(search.started !== undefined && { timeRange: rangeOf(search.started, now) ?? null }),
    ...(triggerTypes && { triggerTypes }),
    ...(search.webhook && { triggerIdentifiers: search.webhook }),
    ...(search.person && { triggeredBy: search.person }),
    ...(search.environment && { environmentIdentifiers: search.environment }),
    ...(search.service && { serviceIdentifiers: search.service }),
  };
  const query = {
    ...scope,
    size: PAGE_SIZE,
    countAtMost: 1_000,
    ...(search.pipeline !== undefined && { pipelineIdentifier: search.pipeline }),
    ...(search.q !== undefined && { searchTerm: search.q }),
    ...readCursor(search.before),
  };
  return { query, body };
}

/**
 * Whether an execution that was announced belongs to the list. Undefined if only the API can tell, because the
 * announcement does not say what the execution deploys.
 */
export function isListed(row: Summary, search: ExecutionsSearch, now: number): boolean | undefined {
  const { status, trigger, webhook, person, pipeline, environment, service } = search;
  const { triggerType, triggeredBy } = row.executionTriggerInfo;
  const holds =
    includes(status, row.status) &&
    includes(trigger, triggerType) &&
    includes(webhook, triggerOf(row)) &&
    includes(person, triggeredBy.uuid) &&
    (pipeline === undefined || pipeline === row.pipelineIdentifier) &&
    hasText(row, search.q) &&
    isInRange(row, search.started, now);
  if (!holds) return false;
  return environment === undefined && service === undefined ? true : undefined;
}

const includes = (wanted: readonly string[] | undefined, value: string): boolean => wanted?.includes(value) ?? true;

/** The identifier of the trigger; empty if a person started it. */
const triggerOf = ({ executionTriggerInfo: { triggerType, triggeredBy } }: Summary): string =>
  triggerType === "MANUAL" ? "" : (triggeredBy.extraInfo.triggerRef?.split("/").at(-1) ?? "");

const hasText = ({ name, pipelineIdentifier }: Summary, text = ""): boolean =>
  `${name}\n${pipelineIdentifier}`.toLowerCase().includes(text.toLowerCase());

function isInRange({ startTs, createdAt }: Summary, started: string | undefined, now: number): boolean {
  const range = started === undefined ? undefined : rangeOf(started, now);
  const start = startTs ?? createdAt;
  return start >= (range?.startTime ?? 0) && start <= (range?.endTime ?? Number.POSITIVE_INFINITY);
}

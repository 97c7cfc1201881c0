import { toWire } from "../../core/ids.ts";
import { springPage } from "../../platform/http/response/pages.ts";
import type { ExecutionPage } from "../execution.ts";
import { executionSummary } from "./rest.ts";

/**
 * A page of executions with the cursors of the next one. Where not all are counted, a page that is not full is the last
 * one; after a full one there may be an empty one.
 */
export async function executionPage(found: ExecutionPage) {
  const page = await springPage(found, (execution) => executionSummary(execution));
  const { beyond, countAtMost, limit, last: cursor } = found;
  const isCounted = beyond === undefined && page.totalElements < countAtMost;
  const last = isCounted ? page.last : page.numberOfElements < limit || limit === 0;
  return {
    ...page,
    first: page.first && beyond === undefined,
    last,
    lastSeenExecutionId: last || !cursor ? null : toWire(cursor.id),
    lastSeenStartTime: last || !cursor ? null : cursor.begunAt,
  };
}

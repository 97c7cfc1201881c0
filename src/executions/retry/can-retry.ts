import { toWire } from "../../core/ids.ts";
import { isFinal, type Status } from "../../engine/index.ts";
import type { ListedExecution } from "../execution.ts";
import { restStatus } from "../wire/status.ts";

const RETRIED: ReadonlySet<Status> = new Set(["failed", "aborted", "expired", "rejected"]);
const DAYS = 30;
const DAY_MS = 86_400_000;

/** Why an execution cannot be retried; undefined if it can. A later attempt of the same is the one to retry. */
export function whyNoRetry(
  { status, createdAt, retriedById }: Pick<ListedExecution, "status" | "createdAt" | "retriedById">,
  now: number,
): string | undefined {
  if (!isFinal(status)) return "it has not ended";
  if (!RETRIED.has(status))
    return `its status is ${restStatus(status)}, and only ${[...RETRIED].map(restStatus).join(", ")} can be retried`;
  if (now - createdAt > DAYS * DAY_MS) return `it is older than ${DAYS} days`;
  if (retriedById !== null) return `execution [${toWire(retriedById)}] has retried it`;
  return undefined;
}

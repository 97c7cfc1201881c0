import type { Status } from "./model.ts";

/** Closes a switch over a union: the compiler fails where a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** True for a status that nothing changes any more. */
export function isFinal(status: Status): boolean {
  switch (status) {
    case "queued":
    case "running":
    case "waiting":
    case "paused":
    case "approvalWaiting":
    case "inputWaiting":
    case "interventionWaiting":
    case "resourceWaiting":
    case "pausing":
      return false;
    case "succeeded":
    case "ignored":
    case "failed":
    case "errored":
    case "aborted":
    case "expired":
    case "rejected":
    case "skipped":
      return true;
    default:
      return unreachable(status);
  }
}

const STATUSES: Readonly<Record<Status, true>> = {
  queued: true,
  running: true,
  waiting: true,
  paused: true,
  approvalWaiting: true,
  inputWaiting: true,
  interventionWaiting: true,
  resourceWaiting: true,
  pausing: true,
  succeeded: true,
  ignored: true,
  failed: true,
  errored: true,
  aborted: true,
  expired: true,
  rejected: true,
  skipped: true,
};

export const isStatus = (value: unknown): value is Status =>
  typeof value === "string" && Object.hasOwn(STATUSES, value);

/** The statuses of an execution that has begun and has not ended. */
export const ACTIVE_STATUSES: readonly Status[] = (Object.keys(STATUSES) as Status[]).filter(
  (status) => status !== "queued" && !isFinal(status),
);

/** True for a final status after which the next sibling in line may start. */
export const letsPass = (status: Status): boolean =>
  status === "succeeded" || status === "ignored" || status === "skipped";

/** The words that expressions see. */
export function expressionStatus(status: Status): string {
  switch (status) {
    case "ignored":
      return "IGNORE_FAILED";
    case "rejected":
      return "APPROVAL_REJECTED";
    case "approvalWaiting":
    case "inputWaiting":
    case "interventionWaiting":
    case "resourceWaiting":
      return status.replace("Waiting", "_WAITING").toUpperCase();
    case "pausing":
    case "queued":
    case "running":
    case "waiting":
    case "paused":
    case "succeeded":
    case "failed":
    case "errored":
    case "aborted":
    case "expired":
    case "skipped":
      return status.toUpperCase();
    default:
      return unreachable(status);
  }
}

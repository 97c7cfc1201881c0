import type { Tone } from "../ui/tone.ts";

type Look = { readonly tone: Tone; readonly label: string };

/** The statuses of executions and of their nodes. docs/api/executions.md says what they mean. */
const LOOKS: ReadonlyMap<string, Look> = new Map([
  ["Running", { tone: "running", label: "Running" }],
  ["AsyncWaiting", { tone: "running", label: "Running" }],
  ["Success", { tone: "success", label: "Success" }],
  ["Failed", { tone: "failed", label: "Failed" }],
  ["Errored", { tone: "failed", label: "Errored" }],
  ["Aborted", { tone: "aborted", label: "Aborted" }],
  ["Expired", { tone: "expired", label: "Expired" }],
  ["Skipped", { tone: "skipped", label: "Skipped" }],
  ["IgnoreFailed", { tone: "ignored", label: "Failure ignored" }],
  ["ApprovalRejected", { tone: "rejected", label: "Rejected" }],
  ["ApprovalWaiting", { tone: "waiting", label: "Waiting for approval" }],
  ["InterventionWaiting", { tone: "waiting", label: "Waiting for intervention" }],
  ["InputWaiting", { tone: "waiting", label: "Waiting for input" }],
  ["ResourceWaiting", { tone: "waiting", label: "Waiting for a resource" }],
  ["TaskWaiting", { tone: "waiting", label: "Waiting for a delegate" }],
  ["TimedWaiting", { tone: "waiting", label: "Waiting for a time" }],
  ["Paused", { tone: "paused", label: "Paused" }],
  ["Pausing", { tone: "paused", label: "Pausing" }],
  ["Suspended", { tone: "skipped", label: "Suspended" }],
  ["Discontinuing", { tone: "aborted", label: "Aborting" }],
  ["Queued", { tone: "queued", label: "Queued" }],
  ["NotStarted", { tone: "neutral", label: "Not started" }],
]);

/** Later servers may have further statuses: they keep their name and get the neutral shape. */
export const lookOf = (status: string): Look => LOOKS.get(status) ?? { tone: "neutral", label: status };

/** All statuses that have a look of their own. */
export const knownStatuses: readonly string[] = [...LOOKS.keys()];

const FINAL: ReadonlySet<string> = new Set([
  "Success",
  "Failed",
  "Errored",
  "Aborted",
  "Expired",
  "Skipped",
  "IgnoreFailed",
  "ApprovalRejected",
  "Suspended",
]);

/** Whether nothing follows the status. */
export const isFinalStatus = (status: string): boolean => FINAL.has(status);

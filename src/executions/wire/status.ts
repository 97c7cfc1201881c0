/** Our words for a status, and those of the REST and GraphQL families for each. */
import type { Reason, Status } from "../../engine/index.ts";
import { problem } from "../problems.ts";

export const GRAPHQL_STATUSES = [
  "ABORTED",
  "ERROR",
  "EXPIRED",
  "FAILED",
  "PAUSED",
  "QUEUED",
  "REJECTED",
  "RESUMED",
  "RUNNING",
  "SKIPPED",
  "SUCCESS",
  "WAITING",
] as const;

export type GraphqlStatus = (typeof GRAPHQL_STATUSES)[number];
type Words = { readonly graphql: GraphqlStatus; readonly rest: string; readonly plan: string };

const WORDS: Readonly<Record<Status, Words>> = {
  queued: { graphql: "QUEUED", rest: "Queued", plan: "QUEUED" },
  running: { graphql: "RUNNING", rest: "Running", plan: "RUNNING" },
  waiting: { graphql: "WAITING", rest: "ResourceWaiting", plan: "RESOURCE_WAITING" },
  paused: { graphql: "PAUSED", rest: "Paused", plan: "PAUSED" },
  approvalWaiting: { graphql: "WAITING", rest: "ApprovalWaiting", plan: "APPROVAL_WAITING" },
  inputWaiting: { graphql: "WAITING", rest: "InputWaiting", plan: "INPUT_WAITING" },
  interventionWaiting: { graphql: "WAITING", rest: "InterventionWaiting", plan: "INTERVENTION_WAITING" },
  resourceWaiting: { graphql: "WAITING", rest: "ResourceWaiting", plan: "RESOURCE_WAITING" },
  pausing: { graphql: "PAUSED", rest: "Pausing", plan: "PAUSING" },
  succeeded: { graphql: "SUCCESS", rest: "Success", plan: "SUCCEEDED" },
  ignored: { graphql: "SUCCESS", rest: "IgnoreFailed", plan: "IGNORE_FAILED" },
  failed: { graphql: "FAILED", rest: "Failed", plan: "FAILED" },
  errored: { graphql: "ERROR", rest: "Errored", plan: "ERRORED" },
  aborted: { graphql: "ABORTED", rest: "Aborted", plan: "ABORTED" },
  expired: { graphql: "EXPIRED", rest: "Expired", plan: "EXPIRED" },
  rejected: { graphql: "REJECTED", rest: "ApprovalRejected", plan: "APPROVAL_REJECTED" },
  skipped: { graphql: "SKIPPED", rest: "Skipped", plan: "SKIPPED" },
};

export const graphqlStatus = (status: Status): GraphqlStatus => WORDS[status].graphql;
export const restStatus = (status: Status): string => WORDS[status].rest;
/** What a waiting node waits for, in the words of the REST family. */
const WAITING: Readonly<Record<Reason["kind"], string>> = {
  approval: "ApprovalWaiting",
  input: "InputWaiting",
  intervention: "InterventionWaiting",
  lock: "ResourceWaiting",
  barrier: "ResourceWaiting",
  duration: "TimedWaiting",
  retry: "TimedWaiting",
  mail: "AsyncWaiting",
  pause: "Paused",
  condition: "ResourceWaiting",
};

/** `isForDelegate`: its task waits for a delegate. */
export function nodeStatus(
  { status, reason }: { readonly status: Status; readonly reason?: Reason | null },
  isForDelegate: boolean,
): string {
  if (isForDelegate) return "TaskWaiting";
  return status === "waiting" && reason ? WAITING[reason.kind] : restStatus(status);
}

/** The words of `PlanExecution.status`. */
export const planStatus = (status: Status): string => WORDS[status].plan;

/** The statuses behind a REST word such as `Success`; none for a word that is none. */
export const fromRestStatus = (word: string): readonly Status[] =>
  (Object.keys(WORDS) as Status[]).filter((status) => WORDS[status].rest === word);

/** The statuses behind a GraphQL word such as `SUCCESS`, which has two. Throws `execution.bad_filter` for a word that is none. */
export function fromGraphqlStatus(word: string): readonly Status[] {
  if (!(GRAPHQL_STATUSES as readonly string[]).includes(word))
    throw problem("execution.bad_filter", [`'${word}' is no execution status`]);
  return (Object.keys(WORDS) as Status[]).filter((status) => WORDS[status].graphql === word);
}

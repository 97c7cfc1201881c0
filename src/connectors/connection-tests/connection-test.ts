import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { ConnectionFault, ConnectionStatus } from "../connector.ts";

/** What a test found. */
export type TestResult = {
  /** UNKNOWN: the connector asks not to be tested. */
  readonly status: "SUCCESS" | "FAILURE" | "UNKNOWN";
  readonly fault: ConnectionFault | null;
  readonly testedAt: number;
  /** Who connected; null for the server itself, and where nobody did. */
  readonly delegateId: Uuid | null;
};

export const resultOf = (
  fault: ConnectionFault | null,
  testedAt: number,
  delegateId: Uuid | null = null,
): TestResult => ({ status: fault ? "FAILURE" : "SUCCESS", fault, testedAt, delegateId });

/** What is kept of it at the connector. */
export const statusOf = ({ fault, testedAt }: TestResult): Omit<ConnectionStatus, "connectedAt"> => ({
  status: fault ? "FAILURE" : "SUCCESS",
  errorSummary: fault && fault.message,
  errors: fault ? [fault] : [],
  testedAt,
});

/** One task for a delegate: the connector's spec, and its secrets by name. */
export type ConnectionWork = {
  readonly kind: "connection";
  readonly type: string;
  readonly spec: never;
  readonly secrets: readonly string[];
  readonly home: Place;
  readonly timeoutMs: number;
};

/** Names the task in the words of whoever keeps the queue; the run is the test. */
type TaskOf = { readonly accountId: Uuid; readonly runId: Uuid; readonly nodeId: Uuid; readonly attempt: number };

/** Ports to whoever keeps the queue of tasks. */
export type TestTasks = {
  readonly enqueue: (
    tx: Tx,
    task: TaskOf & { readonly selectors: readonly string[]; readonly work: ConnectionWork; readonly queueId: null },
  ) => Promise<void>;
  readonly cancel: (tx: Tx, task: TaskOf) => Promise<"ended" | "asked" | "over">;
  /** Removes the tasks of runs whose tasks have all ended; answers these runs. */
  readonly forgetEndedRuns: (tx: Tx, accountId: Uuid, runIds: readonly Uuid[]) => Promise<readonly Uuid[]>;
  readonly isThereFor: (accountId: Uuid, selectors: readonly string[]) => Promise<boolean>;
};

/** How a delegate's task ended, as the queue tells it. */
export type TestEnd =
  | { readonly kind: "tested"; readonly fault: ConnectionFault | null }
  | { readonly kind: "lost"; readonly message: string }
  /** With a type: a secret was not opened. Without: the delegate's answer was none. */
  | { readonly kind: "refused"; readonly message: string; readonly type?: string }
  | { readonly kind: "cancelled" | "exited" };

export const taskOf = (accountId: Uuid, id: Uuid): TaskOf => ({ accountId, runId: id, nodeId: id, attempt: 1 });

const OTHER = {
  reason: "Unexpected",
  message: "The delegate answered with something else than a test.",
  code: 0,
} as const;

/** A secret that was not sent, as a finding. */
export const secretRefused = (message: string): ConnectionFault => ({ reason: "Secret refused", message, code: 0 });

/** The end of a task as a finding. */
export function faultOf(end: TestEnd): ConnectionFault | null {
  switch (end.kind) {
    case "tested":
      return end.fault;
    case "lost":
      return { reason: "Delegate lost", message: end.message, code: 0 };
    case "cancelled":
      return { reason: "Timeout", message: "The delegate was told to end the test.", code: 0 };
    case "refused":
      return end.type === undefined ? OTHER : secretRefused(end.message);
    case "exited":
      return OTHER;
  }
}

/** How the selectors are told to people. */
export const withTags = (selectors: readonly string[]): string =>
  selectors.length === 0 ? "No delegate" : `No delegate with all of the tags [${selectors.join(", ")}]`;

import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { ConnectionFault, ConnectionStatus } from "../connector.ts";

/** The result of a connection test. */
export type TestResult = {
  /** UNKNOWN: the connector's spec excludes tests. */
  readonly status: "SUCCESS" | "FAILURE" | "UNKNOWN";
  readonly fault: ConnectionFault | null;
  readonly testedAt: number;
  /** The delegate that connected; null for the server, and if no connection was tried. */
  readonly delegateId: Uuid | null;
};

export const resultOf = (
  fault: ConnectionFault | null,
  testedAt: number,
  delegateId: Uuid | null = null,
): TestResult => ({ status: fault ? "FAILURE" : "SUCCESS", fault, testedAt, delegateId });

/** The part of a result that is stored with the connector. */
export const statusOf = ({ fault, testedAt }: TestResult): Omit<ConnectionStatus, "connectedAt"> => ({
  status: fault ? "FAILURE" : "SUCCESS",
  errorSummary: fault && fault.message,
  errors: fault ? [fault] : [],
  testedAt,
});

/** The task for a delegate: the connector's spec, and the references of its secrets. */
export type ConnectionWork = {
  readonly kind: "connection";
  readonly type: string;
  readonly spec: never;
  readonly secrets: readonly string[];
  readonly home: Place;
  readonly timeoutMs: number;
};

/** Identifies a task of the delegates' queue. `runId` and `nodeId` are the id of the test. */
type TaskOf = { readonly accountId: Uuid; readonly runId: Uuid; readonly nodeId: Uuid; readonly attempt: number };

/** Callbacks to the queue of tasks. */
export type TestTasks = {
  readonly enqueue: (
    tx: Tx,
    task: TaskOf & { readonly selectors: readonly string[]; readonly work: ConnectionWork; readonly queueId: null },
  ) => Promise<void>;
  readonly cancel: (tx: Tx, task: TaskOf) => Promise<"ended" | "asked" | "over">;
  /** Deletes the tasks of runs whose tasks have all ended, and returns these runs. */
  readonly forgetEndedRuns: (tx: Tx, accountId: Uuid, runIds: readonly Uuid[]) => Promise<readonly Uuid[]>;
  readonly isThereFor: (accountId: Uuid, selectors: readonly string[]) => Promise<boolean>;
};

/** The end of a delegate's task, as the queue reports it. */
export type TestEnd =
  | { readonly kind: "tested"; readonly fault: ConnectionFault | null }
  | { readonly kind: "lost"; readonly message: string }
  /** With `type`: a secret was not opened. Without it: the delegate's answer was invalid. */
  | { readonly kind: "refused"; readonly message: string; readonly type?: string }
  | { readonly kind: "cancelled" | "exited" | "completed" };

export const taskOf = (accountId: Uuid, id: Uuid): TaskOf => ({ accountId, runId: id, nodeId: id, attempt: 1 });

const OTHER = {
  reason: "Unexpected",
  message: "The delegate answered with something else than a test result.",
  code: 0,
} as const;

/** The fault for a secret that was not sent. */
export const secretRefused = (message: string): ConnectionFault => ({ reason: "Secret refused", message, code: 0 });

/** Maps the end of a task to the fault of the connection; null for a success. */
export function faultOf(end: TestEnd): ConnectionFault | null {
  switch (end.kind) {
    case "tested":
      return end.fault;
    case "lost":
      return { reason: "Delegate lost", message: end.message, code: 0 };
    case "cancelled":
      return { reason: "Timeout", message: "The test was cancelled on the delegate.", code: 0 };
    case "refused":
      return end.type === undefined ? OTHER : secretRefused(end.message);
    case "exited":
    case "completed":
      return OTHER;
  }
}

/** The subject of a message about missing delegates. */
export const describeMissingDelegate = (selectors: readonly string[]): string =>
  selectors.length === 0 ? "No delegate" : `No delegate with all of the tags [${selectors.join(", ")}]`;

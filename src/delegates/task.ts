import type { ShellTask } from "../../protocol/messages.ts";
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";

/** What a task is for, in the words of whoever asked for it; handed back with its output and its end. */
export type TaskFor = {
  readonly accountId: Uuid;
  readonly runId: Uuid;
  readonly nodeId: Uuid;
  readonly attempt: number;
};

export type NewTask = TaskFor & { readonly selectors: readonly string[]; readonly work: ShellTask };

export type TaskEnd =
  | {
      readonly kind: "exited";
      readonly exitCode: number;
      readonly outputs: readonly { readonly name: string; readonly value: string }[];
    }
  | { readonly kind: "cancelled"; readonly survivors: number }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "lost"; readonly type: "DelegateRestart" | "DelegateProvisioning"; readonly message: string };

/** Ports to whoever asked for the task; all run inside the transaction that takes the message. */
export type OnTaskOutput = (tx: Tx, task: TaskFor, bytes: Buffer) => Promise<void>;
export type EndTask = (task: TaskFor, end: TaskEnd) => Promise<void>;
/**
 * Locks the run that a task belongs to and answers how to tell it the end. The
 * lock order everywhere is run before task: an abort comes down that way, so an
 * end may not come up the other.
 */
export type LockRun = (accountId: Uuid, runId: Uuid) => Promise<EndTask>;
/**
 * Runs `work` in a transaction, and where a run cannot take an end, once more in another one, where the run ends for
 * that reason: a task's end is always taken. So `work` may be called twice.
 */
export type Advancing = <T>(work: (tx: Tx, lockRun: LockRun) => Promise<T>) => Promise<T>;

/** What happens to an execution, and what follows from it. */
import type { Json } from "./json.ts";
import type { FailureType } from "./plan.ts";
import type { InstanceId, NodeState, Output, Service, State, Status } from "./state.ts";
import type { Work } from "./work.ts";

export type TaskOutcome =
  | { readonly kind: "exited"; readonly exitCode: number; readonly outputs: readonly Output[] }
  /** The result of a task of another kind than a script; its step type reads it. */
  | { readonly kind: "result"; readonly result: Json }
  /** `wasReady`: no delegate had taken it. */
  | { readonly kind: "cancelled"; readonly survivors: number | "unknown"; readonly wasReady?: true }
  /** It could not be begun, or it ended and what its delegate says of it cannot be taken: an ApplicationError unless told. */
  | { readonly kind: "refused"; readonly message: string; readonly type?: FailureType }
  | { readonly kind: "lost"; readonly type: "DelegateRestart" | "DelegateProvisioning"; readonly message: string };

/** What a timer is for. A node has at most one of each. */
export type TimerPurpose = "timeout" | "retry" | "intervention" | "wait";

export const INTERRUPTS = [
  ...(["AbortAll", "Abort", "Pause", "Resume", "Retry", "Ignore", "MarkAsSuccess", "MarkAsFailure"] as const),
  ...(["StageRollback", "StepGroupRollback", "PipelineRollback", "ExpireAll"] as const),
] as const;
/** `AbortAll`, `ExpireAll`, `Pause` and `Resume` apply to the execution, the others to the node that they name. */
export type Interrupt = (typeof INTERRUPTS)[number];

/** `at` is epoch milliseconds; the engine has no clock of its own. */
export type Event =
  | {
      readonly kind: "started";
      readonly at: number;
      /**
       * Nodes of an earlier execution of the same pipeline that are not run again, with the definitions of this plan and
       * all that was below them.
       */
      readonly reused?: readonly NodeState[];
    }
  | {
      readonly kind: "taskEnded";
      readonly at: number;
      readonly node: InstanceId;
      /** The number of the task, as `enqueueTask` gave it. */
      readonly attempt: number;
      readonly outcome: TaskOutcome;
      /** The end of the step's log, where it may have failed. */
      readonly log?: string;
      readonly delegate?: { readonly id: string; readonly name: string };
    }
  | { readonly kind: "timerFired"; readonly at: number; readonly node: InstanceId; readonly purpose: TimerPurpose }
  /** A service of the platform answers the request of a waiting node. */
  | { readonly kind: "answered"; readonly at: number; readonly node: InstanceId; readonly answer: Json }
  /** A value for each input that a waiting node asks for. */
  | {
      readonly kind: "inputSubmitted";
      readonly at: number;
      readonly node: InstanceId;
      readonly values: { readonly [key: string]: string };
    }
  | {
      readonly kind: "interrupted";
      readonly at: number;
      readonly interrupt: Interrupt;
      readonly node?: InstanceId;
      /** Who asked for it, for messages. */
      readonly by?: string;
    };

/** What a waiting node asks of a service of the platform; the answer comes as `answered`. */
export type ServiceRequest =
  | { readonly service: "approval" | "mail"; readonly request: Json }
  /** A lock is kept until the node itself ends, or the stage or the pipeline around it. */
  | { readonly service: "lock"; readonly key: string; readonly until: "node" | "stage" | "pipeline" };

export type Effect =
  | {
      readonly kind: "enqueueTask";
      readonly node: InstanceId;
      /** Counts the tasks of the node from 1. */
      readonly attempt: number;
      readonly selectors: readonly string[];
      readonly work: Work;
    }
  /** Ask the delegate to stop it; the answer comes as `taskEnded` with outcome cancelled. */
  | { readonly kind: "cancelTask"; readonly node: InstanceId; readonly attempt: number }
  | { readonly kind: "startTimer"; readonly node: InstanceId; readonly purpose: TimerPurpose; readonly at: number }
  | { readonly kind: "stopTimer"; readonly node: InstanceId; readonly purpose: TimerPurpose }
  | {
      readonly kind: "sendRequest";
      readonly node: InstanceId;
      readonly service: "approval" | "mail";
      readonly request: Json;
    }
  /** `holder`: the node at whose end the lock is free again. */
  | {
      readonly kind: "sendRequest";
      readonly node: InstanceId;
      readonly service: "lock";
      readonly key: string;
      readonly holder: InstanceId;
    }
  /** The node has ended, and the locks that were asked for until then are free. */
  | { readonly kind: "releaseLocks"; readonly node: InstanceId }
  /** The node no longer waits for the answer. */
  | { readonly kind: "withdrawRequest"; readonly node: InstanceId; readonly service: Service }
  | { readonly kind: "endExecution"; readonly status: Status };

export type Transition = {
  readonly state: State;
  /** The instances that are new or other than before. */
  readonly changed: ReadonlyMap<InstanceId, NodeState>;
  readonly effects: readonly Effect[];
};

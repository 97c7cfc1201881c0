import type { Scope } from "./expression/place.ts";
import type {
  Attempt,
  Failure,
  Json,
  Output,
  Reason,
  ServiceRequest,
  Status,
  StepNode,
  TaskOutcome,
  Work,
} from "./model.ts";

/** What a step type sees of one attempt of a step. */
export type StepAttempt = {
  readonly step: StepNode;
  /** The name of this instance. */
  readonly name: string;
  /** Epoch milliseconds of the event. */
  readonly at: number;
  /** Counts the attempts of the step from 1. */
  readonly number: number;
  readonly attempt: Attempt;
  /** What its expressions see. Building it costs time; most steps without expressions need none. */
  readonly scope: () => Scope;
};

/** What happens to an attempt that waits for a task, a time or an answer. */
export type Signal =
  | { readonly kind: "taskEnded"; readonly outcome: Extract<TaskOutcome, { kind: "exited" | "result" }> }
  /** The task did not end in the time that `until` gave it, and was stopped. */
  | { readonly kind: "taskOverdue" }
  /** Only for types that repeat. */
  | { readonly kind: "taskLost"; readonly message: string }
  | { readonly kind: "timerFired" }
  | { readonly kind: "answered"; readonly answer: Json };

/** The end of an attempt. */
export type StepEnd = {
  readonly kind: "end";
  readonly status: Extract<Status, "succeeded" | "failed" | "rejected">;
  readonly failure?: Failure;
  readonly outputs?: readonly Output[];
  readonly output?: { readonly [name: string]: Json };
  readonly exitCode?: number;
};

/** What a step does next. `progress`: what it needs to know at the next signal. */
export type StepAction =
  | StepEnd
  | {
      readonly kind: "runTask";
      readonly selectors: readonly string[];
      readonly work: Work;
      /** The time at which the task is asked to end; `taskOverdue` follows. */
      readonly until?: number;
      readonly progress?: Json;
    }
  | {
      readonly kind: "wait";
      readonly reason: Reason;
      /** The time of a `timerFired` signal. */
      readonly until?: number;
      readonly request?: ServiceRequest;
      /** The step has arrived at the barrier that its work names; `answered` follows when all have. */
      readonly isAtBarrier?: true;
      readonly progress?: Json;
    };

/**
 * How steps of one type run. Both functions are pure. The engine has the timeout, the failure strategies, and the end by
 * an interrupt; what an ExpressionError says fails the attempt.
 */
export type StepType = {
  readonly begin: (attempt: StepAttempt) => StepAction;
  readonly receive: (attempt: StepAttempt, signal: Signal) => StepAction;
  /** A task may be run again: a lost one does not fail the attempt. */
  readonly repeats?: true;
  /** It passes only if it is approved: no interrupt lets it pass. */
  readonly needsApproval?: true;
};

/** Step types by the name that plans have. */
export type StepTypes = ReadonlyMap<string, StepType>;

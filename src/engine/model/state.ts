/** What an execution has become: a header and the instances of nodes that were reached. All of it is plain JSON. */
import type { Json } from "./json.ts";
import type { FailureAction, FailureType, FORMAT, NodeId } from "./plan.ts";

/** The id of an instance: that of its definition unless the node is repeated or retried. */
export type InstanceId = string;

export type Status =
  | "queued"
  | "running"
  | "waiting"
  | "paused"
  // Of executions, whose nodes say by their reason what they wait for.
  | "approvalWaiting"
  | "inputWaiting"
  | "interventionWaiting"
  | "resourceWaiting"
  | "pausing"
  | "succeeded"
  | "ignored"
  | "failed"
  | "errored"
  | "aborted"
  | "expired"
  | "rejected"
  | "skipped";

export type Failure = {
  readonly message: string;
  readonly types: readonly FailureType[];
  /** The end of the log of the step that failed. */
  readonly log?: string;
};

export type Output = {
  readonly name: string;
  readonly value: string;
  /** The id of a value of the type Secret, which is stored sealed; `value` is a mask. */
  readonly secret?: string;
};

/** Why a node is waiting, queued, paused or skipped: a sentence for people, and its kind for programs. */
export type Reason = {
  readonly kind:
    | "approval"
    | "duration"
    | "input"
    | "intervention"
    | "lock"
    | "mail"
    | "barrier"
    | "retry"
    | "pause"
    | "condition";
  readonly message: string;
  /** Of an intervention: what follows without a decision. None where an earlier version began the wait. */
  readonly onTimeout?: FailureAction;
};

/** What answers a step or stage that waits for something beside a task. */
export const SERVICES = ["approval", "lock", "mail"] as const;
export type Service = (typeof SERVICES)[number];

/** One try of a node. Earlier ones stay readable. */
export type Attempt = {
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Its final status; null while it is open. */
  readonly status: Status | null;
  readonly failure: Failure | null;
  readonly exitCode: number | null;
  readonly outputs: readonly Output[];
  /** Processes that outlived the kill, when the task was cancelled. */
  readonly survivors: number | "unknown" | null;
  /** The delegate that ran the last task of the attempt. */
  readonly delegate: { readonly id: string; readonly name: string } | null;
  /** The number of its current or last task among the tasks of the node; null if it had none. The log is found by it. */
  readonly task: number | null;
  /** What the timeout of the plan has come to, where it is an expression. */
  readonly timeoutMs?: number;
  /**
   * What may still come: the end of its task, its timeout, a time, the answer of a service. Empty once it has ended.
   * `cancel`: the task was asked to end because its own time is up, and the attempt goes on.
   */
  readonly waitsFor: readonly ("task" | "cancel" | "timeout" | "time" | "barrier" | "input" | Service)[];
  /** What the step type keeps between two signals; null once the attempt has ended. */
  readonly progress: Json;
  /** What expressions read as `output` beside the output variables. */
  readonly output: { readonly [name: string]: Json } | null;
};

/** What an iteration of a loop is told from the others by. */
export type Iteration = {
  readonly index: number;
  readonly total: number;
  /** Ends the identifier of the instance, as `_0` or `_1_0`. */
  readonly postfix: string;
  /** The name of the instance where the author configures one. */
  readonly name?: string;
  readonly matrix?: { readonly [axis: string]: Json };
  readonly item?: Json;
  /** The part of the items, where they are partitioned. */
  readonly partition?: readonly Json[];
};

/** What is to happen around a failed node, once the node `target` has no open children. */
export type Recovery = { readonly action: FailureAction; readonly target: InstanceId };

/** A child that did not pass. */
export type ChildFailure = {
  readonly status: Status;
  readonly failure: Failure | null;
  readonly recovery: Recovery | null;
};

/** A node of another execution. */
export type Origin = { readonly execution: string; readonly node: InstanceId };

/** How far a node with children has come. */
export type Progress = {
  /** `rollback`: its steps have failed and what undoes them runs. */
  readonly phase: "main" | "rollback";
  /** The number of children that were started or passed over. */
  readonly next: number;
  readonly open: number;
  readonly failed: ChildFailure | null;
  /** A failure below was ignored. */
  readonly ignored: boolean;
  /** Of a loop: all its iterations. */
  readonly iterations?: readonly Iteration[];
  /** Of a pipeline, a stage or a step group: the steps that have exported their outputs to it, by alias. */
  readonly exports?: { readonly [key: string]: InstanceId };
  /** Of a pipeline that rolls back: the stages to undo, in order. */
  readonly undo?: readonly InstanceId[];
};

export type NodeState = {
  readonly id: InstanceId;
  readonly definition: NodeId;
  readonly parent: InstanceId | null;
  /** Identifiers from the root, as `deploy/steps/smoke[1]`; no other instance of the execution has the same. */
  readonly path: string;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly failure: Failure | null;
  /** The last one is current. Empty for a node that never began. */
  readonly attempts: readonly Attempt[];
  /** How many tasks it has had. */
  readonly tasks: number;
  /** What was submitted for it, by the key of the input. Later attempts have it, too. */
  readonly inputs?: { readonly [key: string]: string };
  /** Nothing starts below it any more; the status that it will end with once nothing runs. */
  readonly stopping: "aborted" | "expired" | "succeeded" | "failed" | null;
  readonly iteration: Iteration | null;
  /** Of a node with children. */
  readonly progress: Progress | null;
  /** An earlier execution ran it; this one has what it left. */
  readonly isReused: boolean;
  /** Where it was run, if it is reused. */
  readonly origin?: Origin;
  /**
   * Of a node with children: a step below it has begun. Missing in executions of earlier versions.
   */
  readonly hasActed?: boolean;
  /** Locks were asked for until it ends. */
  readonly holdsLocks: boolean;
  /** What its end makes of what stands around it. */
  readonly recovery: Recovery | null;
};

/** Steps wait at a barrier until all steps of the plan that name it have arrived. */
export type Barrier = {
  readonly arrived: readonly { readonly definition: NodeId; readonly node: InstanceId }[];
  readonly isOpen: boolean;
};

/** How many nodes wait for what, and how many steps go on by themselves. */
export type Waits = {
  readonly active: number;
  readonly approval: number;
  readonly input: number;
  readonly intervention: number;
  readonly lock: number;
};

/** The part of an execution that is written at each event. */
export type State = {
  readonly format: typeof FORMAT;
  readonly status: Status;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly failure: Failure | null;
  /** An abort was asked for: nothing new starts. */
  readonly aborting: boolean;
  /** Nothing new starts until it is resumed. */
  readonly paused: boolean;
  /** The latest time that it tells of; no later event is before it. */
  readonly latestAt: number;
  /** Instances that were created. */
  readonly nodes: number;
  /** By reference: the steps that have arrived, and whether they were let through. None in most executions. */
  readonly barriers: { readonly [reference: string]: Barrier };
  /** UTF-8 bytes of all output variables. */
  readonly outputBytes: number;
  /** None before the first event, and of executions that an earlier version began. */
  readonly waits?: Waits;
};

/** Finds an instance that was reached. */
export type Nodes = {
  readonly get: (id: InstanceId) => NodeState | undefined;
  /** All of them: a transition asks for it only where a rollback searches for what is to be undone. */
  readonly values: () => Iterable<NodeState>;
};

export type Snapshot = { readonly state: State; readonly nodes: Nodes };

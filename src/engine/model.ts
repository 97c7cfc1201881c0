/**
 * The words of the engine. All values are plain JSON and readonly: plans and
 * states are stored as they are, histories are replayed from them.
 */

/** The id of a node of one execution; unique, chosen by whoever makes the plan. */
export type NodeId = string;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Status =
  | "queued"
  | "running"
  | "waiting"
  | "paused"
  | "succeeded"
  | "ignored"
  | "failed"
  | "errored"
  | "aborted"
  | "expired"
  | "rejected"
  | "skipped";

/** Why a node failed, in the words that failure strategies use. */
export type FailureType =
  | "Unknown"
  | "ApplicationError"
  | "Timeout"
  | "DelegateProvisioning"
  | "DelegateRestart"
  | "ExpressionEvaluation"
  /** A secret may not be used where the step is, or the step's host is not one that its pipeline allows. */
  | "Authorization"
  /** A secret that is needed is not there, or not as it is needed. */
  | "ConfigurationFailure";

export type Failure = {
  readonly message: string;
  readonly types: readonly FailureType[];
  /** The end of the log of the step that failed. */
  readonly log?: string;
};

/** `AllErrors` → run the stage's rollback steps. Further errors and actions are added to these unions. */
export type FailureStrategy = { readonly errors: readonly "AllErrors"[]; readonly action: "StageRollback" };

/**
 * `type`: what the value has to be once its expressions are evaluated; any text where there is none. `Integer` is for an
 * expression of a script with which Bash calculates.
 */
export type EnvTemplate = { readonly name: string; readonly value: string; readonly type?: "Number" | "Integer" };
export type OutputTemplate = { readonly name: string; readonly variable: string };

/** A secret by its reference, as `account.x`: its value, or the path of a file that holds it. */
export type SecretUse = { readonly reference: string; readonly as: "value" | "file" };

/** Where a step stands that asks for secrets: plain references lead to its project, its environment decides what it may use. */
export type SecretsHome = {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly environmentRef: string;
};

/** A host to run on, and the reference of the SSH credential to log in with. */
export type Target = {
  readonly host: string;
  readonly workingDirectory?: string;
  readonly credential: string;
};

/** The same before expressions are resolved: host and folder may hold `<+…>`. */
export type TargetTemplate = Target & {
  /**
   * The hosts that the author of the pipeline allows; the host has to come to one of them. Missing from plans that were
   * stored before there were any: in those only a host without expressions is used.
   */
  readonly hosts?: readonly string[];
};

/** A ShellScript step before its expressions are resolved. `env` values may hold `<+…>`; the script does not. */
export type ShellTemplate = {
  readonly kind: "shell";
  readonly script: string;
  readonly env: readonly EnvTemplate[];
  readonly outputs: readonly OutputTemplate[];
  /** Of a step whose `env` asks for secrets, or that has a target. */
  readonly home?: SecretsHome;
  /** The delegate itself where there is none. */
  readonly target?: TargetTemplate;
};

/**
 * What a step gets of secrets: their names. Values are put in on the delegate, so that no plan, state or task holds one.
 * Parts of a variable that are numbers are places in `uses`.
 */
export type SecretsWork = {
  readonly home: SecretsHome;
  readonly uses: readonly SecretUse[];
  readonly env: readonly { readonly name: string; readonly parts: readonly (string | number)[] }[];
};

/** A ShellScript step as a delegate gets it. */
export type ShellWork = {
  readonly kind: "shell";
  readonly script: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly outputs: readonly OutputTemplate[];
  /** There is always one beside a target. */
  readonly secrets?: SecretsWork;
  readonly target?: Target;
};

type NodeBase = {
  readonly id: NodeId;
  readonly identifier: string;
  readonly name: string;
  /** Where the node stands in `Plan.context`, as in ["pipeline","stages","deploy","spec","execution","steps","greet"]. */
  readonly path: readonly string[];
};

/** Children of every group run in order. Parallel groups, looping and step groups are added as further kinds. */
export type PlanNode =
  | (NodeBase & { readonly kind: "pipeline"; readonly children: readonly NodeId[] })
  | (NodeBase & {
      readonly kind: "stage";
      readonly type: "Deployment";
      readonly steps: NodeId;
      readonly rollback: NodeId;
      readonly failureStrategies: readonly FailureStrategy[];
    })
  | (NodeBase & { readonly kind: "group"; readonly children: readonly NodeId[] })
  | (NodeBase & {
      readonly kind: "step";
      readonly type: "ShellScript";
      readonly timeoutMs: number;
      readonly selectors: readonly string[];
      readonly work: ShellTemplate;
    });

/**
 * What a plan names outside of itself, by the id that it had at the start: what is created later under the same
 * identifier is something else. `takes`: of an SSH credential, the secrets that it logs in with, id by reference.
 */
export type PlanReference = {
  readonly kind: "secret" | "connector" | "environment" | "service";
  readonly reference: string;
  readonly id: string;
  readonly takes?: Readonly<Record<string, string>>;
  /** Identifier of the stage; null for secrets, which tasks name themselves. */
  readonly stage: string | null;
};

export type Plan = {
  readonly root: NodeId;
  readonly nodes: { readonly [id: NodeId]: PlanNode };
  /**
   * What expressions can see beside the results of nodes: `pipeline` (the
   * document with inputs filled in, `stages`, `steps` and `rollbackSteps` as
   * objects by identifier, `variables` as name → value), `account`, `org`,
   * `project`, `trigger`.
   */
  readonly context: { readonly [key: string]: Json };
  /** Missing from plans that were stored before references had ids. The engine does not read it. */
  readonly references?: readonly PlanReference[];
};

export type NodeState = {
  readonly status: Status;
  /** Counts from 1; a retry is a further attempt. */
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly outputs: readonly { readonly name: string; readonly value: string }[];
  readonly exitCode: number | null;
  readonly failure: Failure | null;
  /**
   * The task was asked to stop and has not ended yet; the status it will end with,
   * unless it had ended with exit code 0 before the request reached it.
   */
  readonly stopping: "aborted" | "expired" | null;
  /** Processes that outlived the kill, when the task was cancelled. */
  readonly survivors: number | "unknown" | null;
};

export type State = {
  readonly status: Status;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly failure: Failure | null;
  /** An abort was asked for: nothing new starts. */
  readonly aborting: boolean;
  /** Nodes that were reached; the others are still to come. */
  readonly nodes: { readonly [id: NodeId]: NodeState };
};

export type TaskOutcome =
  | {
      readonly kind: "exited";
      readonly exitCode: number;
      readonly outputs: readonly { readonly name: string; readonly value: string }[];
    }
  | { readonly kind: "cancelled"; readonly survivors: number | "unknown" }
  /** It could not be begun, or it ended and what its delegate says of it cannot be taken: an ApplicationError unless told. */
  | { readonly kind: "refused"; readonly message: string; readonly type?: FailureType }
  | { readonly kind: "lost"; readonly type: "DelegateRestart" | "DelegateProvisioning"; readonly message: string };

/** `at` is epoch milliseconds; the engine has no clock of its own. */
export type Event =
  | { readonly kind: "started"; readonly at: number }
  | {
      readonly kind: "taskEnded";
      readonly at: number;
      readonly node: NodeId;
      readonly attempt: number;
      readonly outcome: TaskOutcome;
      /** The end of the step's log, where it may have failed. */
      readonly log?: string;
    }
  | { readonly kind: "timerFired"; readonly at: number; readonly node: NodeId; readonly attempt: number }
  | { readonly kind: "interrupted"; readonly at: number; readonly interrupt: "AbortAll"; readonly by?: string };

export type Effect =
  | {
      readonly kind: "enqueueTask";
      readonly node: NodeId;
      readonly attempt: number;
      readonly selectors: readonly string[];
      readonly work: ShellWork;
    }
  /** Ask the delegate to stop it; the answer comes as `taskEnded` with outcome cancelled. */
  | { readonly kind: "cancelTask"; readonly node: NodeId; readonly attempt: number }
  | { readonly kind: "startTimer"; readonly node: NodeId; readonly attempt: number; readonly at: number }
  | { readonly kind: "stopTimer"; readonly node: NodeId; readonly attempt: number }
  | { readonly kind: "endExecution"; readonly status: Status };

export type Transition = { readonly state: State; readonly effects: readonly Effect[] };

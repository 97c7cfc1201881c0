/**
 * The definition of an execution: a tree of nodes, made once at the start and never changed. Plans are plain JSON.
 */
import type { Json } from "./json.ts";
import type { WorkTemplate } from "./work.ts";

/** The format of plans and states that this version writes. It reads earlier ones through `upgrade`. */
export const FORMAT = 2;

/** The id of a definition; a UUID, unique over all executions. */
export type NodeId = string;

/** Why a node failed, in the words that failure strategies use. */
export type FailureType =
  | "Unknown"
  | "ApplicationError"
  | "Authentication"
  | "Connectivity"
  | "Timeout"
  /** A secret may not be used where the step is, or the step's host is not one that its pipeline allows. */
  | "Authorization"
  | "Verification"
  | "DelegateProvisioning"
  | "DelegateRestart"
  | "ExpressionEvaluation"
  | "PolicyEvaluationFailure"
  | "InputTimeoutError"
  | "ApprovalRejection"
  | "UserMarkedFailure"
  | "InfrastructureFailure"
  | "ResourceLimitsFailure"
  /** A secret that is needed is not there, or not as it is needed. */
  | "ConfigurationFailure";

/** What a failure strategy does. A rollback or a retry of a group applies to the group or stage around the failed node. */
export type FailureAction =
  | { readonly type: "Ignore" | "MarkAsSuccess" | "MarkAsFailure" | "Abort" }
  | { readonly type: "StageRollback" | "StepGroupRollback" | "PipelineRollback" }
  /** Of a node whose inputs were not submitted in time. */
  | { readonly type: "ProceedWithDefaultValues" }
  | {
      readonly type: "Retry" | "RetryStepGroup";
      readonly count: number;
      /** Milliseconds before each retry; the last one applies to all that follow. Empty: at once. */
      readonly intervals: readonly number[];
      /** When all retries have failed. */
      readonly fallback: FailureAction;
    }
  | { readonly type: "ManualIntervention"; readonly timeoutMs: number; readonly fallback: FailureAction };

export type FailureStrategy = {
  readonly errors: readonly ("AllErrors" | FailureType)[];
  readonly action: FailureAction;
};

/**
 * Whether a node runs. `status`: after only successes, after a failure, or in any case. It looks at the siblings before
 * it; `Failure` also at what stands around them.
 */
export type Condition = {
  readonly status: "Success" | "Failure" | "All";
  /** An expression that must come to true. */
  readonly expression?: string;
};

/** Values that are known, or an expression that comes to them when the loop is reached. */
type Values = readonly Json[] | string;

export type LoopStrategy =
  | {
      readonly type: "matrix";
      readonly axes: readonly { readonly name: string; readonly values: Values }[];
      readonly exclude: readonly { readonly [axis: string]: Json }[];
      readonly nodeName?: string;
    }
  | { readonly type: "items"; readonly items: Values; readonly partitionSize?: number; readonly nodeName?: string }
  | { readonly type: "times"; readonly times: number | string; readonly nodeName?: string };

type NodeBase = {
  readonly id: NodeId;
  readonly identifier: string;
  readonly name: string;
  /** Where the node stands in the context of its pipeline, as in ["pipeline","stages","deploy","spec","execution","steps","greet"]. */
  readonly path: readonly string[];
};

/** Fields of nodes that authors configure: stages, step groups, steps. */
type Configured = {
  readonly when?: Condition;
  readonly failureStrategies?: readonly FailureStrategy[];
  readonly asks?: NodeInputs;
};

/** What the node waits for when it begins: values that are submitted while the execution runs. */
export type NodeInputs = {
  /** The fields of the node that are asked for, with their runtime inputs. The form of what is submitted. */
  readonly template: Json;
  readonly inputs: readonly NodeInput[];
};

export type NodeInput = {
  /** Where it stands in the template, as in `step.spec.environmentVariables[0].value`. Expressions read it by this key. */
  readonly key: string;
  /** Of a variable of the node: its name. */
  readonly variable?: string;
  readonly type?: "Number";
  readonly isRequired?: true;
  /** Several values may be given, as a list. */
  readonly isMany?: true;
  readonly default?: string;
};

export type PipelineNode = NodeBase & {
  readonly kind: "pipeline";
  readonly children: readonly NodeId[];
  readonly timeoutMs?: number;
  /** A template, in place of the number. */
  readonly timeout?: string;
  /** Of a chained pipeline: the id of what was saved. */
  readonly saved?: string;
  readonly inputs?: readonly ChainedInput[];
  readonly outputs?: readonly ChainedOutput[];
};

/** A variable of a chained pipeline whose value the stage that runs it evaluates when it begins. */
export type ChainedInput = {
  readonly name: string;
  readonly value: string;
  readonly type?: "Number";
  readonly isRequired?: true;
  /** The values to choose from; several are separated by commas. */
  readonly allowed?: readonly string[];
  readonly isMany?: true;
  /** A pattern for the whole value. */
  readonly pattern?: string;
};

/** A template that is evaluated when the chained pipeline has succeeded, with what its own expressions see. */
export type ChainedOutput = { readonly name: string; readonly value: string };

export type StageNode = NodeBase &
  Configured & {
    readonly kind: "stage";
    readonly type: string;
    /** The group of its steps; of a chained stage the pipeline. */
    readonly steps: NodeId;
    readonly rollback?: NodeId;
    readonly timeoutMs?: number;
    /** A template, in place of the number. */
    readonly timeout?: string;
    /** A template; the stage waits until no other stage has the lock that it comes to. */
    readonly lock?: string;
  };

/** Runs its children in order. `role`: the steps of a stage or group, their rollback, or a step group. */
export type GroupNode = NodeBase &
  Configured & {
    readonly kind: "group";
    readonly role: "steps" | "rollbackSteps" | "stepGroup";
    readonly children: readonly NodeId[];
    /** Of a step group: what undoes it. */
    readonly rollback?: NodeId;
    readonly timeoutMs?: number;
    /** A template, in place of the number. */
    readonly timeout?: string;
  };

/** Runs its children at the same time. */
export type ParallelNode = NodeBase & { readonly kind: "parallel"; readonly children: readonly NodeId[] };

/** Creates an instance of its body for each combination or item. */
export type LoopNode = NodeBase & {
  readonly kind: "loop";
  readonly body: NodeId;
  readonly strategy: LoopStrategy;
  /** Instances at once. */
  readonly maxConcurrency?: number;
  /** What follows when an instance fails: the others run all the same, or those not begun are skipped. */
  readonly onFailure: "RunAll" | "SkipQueued";
  /** The body's, without its expression, which each instance evaluates. */
  readonly when?: Condition;
};

/** Under which name other steps read the outputs of a step, and from where. */
export type OutputAlias = { readonly key: string; readonly scope: "pipeline" | "stage" | "stepGroup" };

export type StepNode = NodeBase &
  Configured & {
    readonly kind: "step";
    /** Names the module that runs it. */
    readonly type: string;
    readonly timeoutMs: number;
    /** A template, in place of the number. */
    readonly timeout?: string;
    readonly selectors: readonly string[];
    readonly work: WorkTemplate;
    readonly outputAlias?: OutputAlias;
  };

export type PlanNode = PipelineNode | StageNode | GroupNode | ParallelNode | LoopNode | StepNode;

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
  /** The chained pipeline that names it; missing for the pipeline of the execution. */
  readonly pipeline?: NodeId;
};

export type PlanContext = { readonly [key: string]: Json };

export type Plan = {
  readonly format: typeof FORMAT;
  readonly root: NodeId;
  readonly nodes: { readonly [id: NodeId]: PlanNode };
  /**
   * What expressions can see beside the results of nodes: `pipeline` (the
   * document with inputs filled in, `stages`, `steps` and `rollbackSteps` as
   * objects by identifier, `variables` as name → value), `account`, `org`,
   * `project`, `trigger`.
   */
  readonly context: PlanContext;
  /** The same for the nodes of chained pipelines, by the pipeline's node. */
  readonly chained?: { readonly [pipeline: NodeId]: PlanContext };
  /** Missing from plans that were stored before references had ids. The engine does not read it. */
  readonly references?: readonly PlanReference[];
};

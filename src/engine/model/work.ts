/** ShellScript work: as the plan has it, and as a delegate gets it. */
/**
 * `type`: what the value has to be once its expressions are evaluated; any text where there is none. `Integer` is for an
 * expression of a script with which Bash calculates.
 */
export type EnvTemplate = { readonly name: string; readonly value: string; readonly type?: "Number" | "Integer" };
export type OutputTemplate = { readonly name: string; readonly variable: string; readonly type?: "Secret" };

/** A secret by its reference, as `account.x`: its value, or the path of a file that holds it. */
export type SecretUse = {
  readonly reference: string;
  readonly as: "value" | "file";
  /** The id of a secret output, which `reference` describes. */
  readonly output?: string;
};

/** Where a step stands that asks for secrets: plain references lead to its project, its environment decides what it may use. */
export type SecretsHome = {
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  /** Missing in a stage that has no environment. */
  readonly environmentRef?: string;
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
  readonly kubernetes?: ClusterUse;
};

/** The cluster of a step; beside it there is always a home. `namespace` may hold expressions in a template. */
export type ClusterUse = {
  /** The reference of its connector. */
  readonly connector: string;
  readonly namespace: string;
  /** Tags that the delegate of the step has. */
  readonly selectors: readonly string[];
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
  /** With a cluster, which not every delegate knows. */
  readonly version?: 2;
  readonly script: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly outputs: readonly { readonly name: string; readonly variable: string }[];
  /** There is always one beside a target or a cluster. */
  readonly secrets?: SecretsWork;
  readonly target?: Target;
  readonly kubernetes?: ClusterUse;
};

/** The work of any step before its expressions are resolved. Its step type knows the rest of it. */
export type WorkTemplate = { readonly kind: string; readonly [field: string]: unknown };

/** The work of a step that waits at a barrier. The engine looks for it: it lets them through together. */
export type BarrierTemplate = { readonly kind: "barrier"; readonly reference: string };

/**
 * The work of a step that takes a lock, which what stands around it holds. The engine looks for it: a retry asks for a lock
 * again that would still be held.
 */
export type LockTemplate = { readonly kind: "queue"; readonly key: string; readonly until: "stage" | "pipeline" };

/** The work of a task. Only the module of its kind knows the rest of it. */
export type Work = { readonly kind: string; readonly [field: string]: unknown };

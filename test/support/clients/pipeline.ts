/** Pipeline documents from a few values. All other fields are constant. */
export const ORGANIZATION = "default";
export const PROJECT = "shop";

export type StepOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Names of the output variables of the script. */
  readonly outputs?: readonly string[];
  readonly timeout?: string;
  readonly selectors?: readonly string[];
  readonly errexit?: boolean;
  /** The remote host that runs the step instead of the delegate. */
  readonly target?: { readonly host: string; readonly connectorRef: string };
};

export type PipelineDocument = { readonly pipeline: Readonly<Record<string, unknown>> };

export function step(identifier: string, script: string, options: StepOptions = {}): object {
  const { env = {}, outputs = [], selectors, target, errexit, timeout = "1m" } = options;
  return {
    step: {
      type: "ShellScript",
      name: identifier,
      identifier,
      timeout,
      spec: {
        shell: "Bash",
        onDelegate: target === undefined,
        ...(target ? { executionTarget: target } : {}),
        source: { type: "Inline", spec: { script } },
        environmentVariables: Object.entries(env).map(([name, value]) => ({ name, type: "String", value })),
        outputVariables: outputs.map((name) => ({ name, type: "String", value: name })),
        ...(errexit === undefined ? {} : { errexit }),
        ...(selectors ? { delegateSelectors: selectors } : {}),
      },
    },
  };
}

export function stage(identifier: string, steps: readonly object[], rollbackSteps: readonly object[] = []): object {
  const onFailure = { errors: ["AllErrors"], action: { type: "StageRollback" } };
  return {
    stage: {
      name: identifier,
      identifier,
      type: "Deployment",
      spec: {
        serviceConfig: { serviceRef: "shop" },
        infrastructure: { environmentRef: "staging" },
        execution: { steps, rollbackSteps },
      },
      failureStrategies: [{ onFailure }],
    },
  };
}

export const pipeline = (identifier: string, stages: readonly object[]): PipelineDocument => ({
  pipeline: { name: identifier, identifier, orgIdentifier: ORGANIZATION, projectIdentifier: PROJECT, stages },
});

/** A pipeline with one stage of these steps. */
export const pipelineOf = (identifier: string, ...steps: readonly object[]): PipelineDocument =>
  pipeline(identifier, [stage("only", steps)]);

/**
 * Documents that together have every field of the language, for tests of all fields. A field that is in none of them
 * fails a test with its name: add it to a sample of its place.
 */

export type Fields = { readonly [field: string]: unknown };

const script = (text: string): Fields => ({ shell: "Bash", source: { type: "Inline", spec: { script: text } } });

/** A step that needs nothing. */
const step = (identifier: string, fields: Fields = {}): Fields => ({
  step: { type: "ShellScript", name: identifier, identifier, spec: script("true"), ...fields },
});

const STRING = { name: "text", type: "String", description: "d", value: "v" };
const INPUT = { name: "input", type: "String", required: false, default: "d", value: "<+input>" };
const REQUIRED = { name: "needed", type: "String", required: true, value: "<+trigger.payload.empty>" };
const VARIABLES = [{ variables: [STRING] }, { variables: [INPUT] }, { variables: [REQUIRED] }];

const action = (type: string, spec?: Fields): Fields => ({
  failureStrategies: [{ onFailure: { errors: ["Timeout"], action: { type, ...(spec && { spec }) } } }],
});
const ABORT = { action: { type: "Abort" } };
const STRATEGIES = [
  action("Ignore"),
  action("Retry", { retryCount: 2, retryIntervals: ["10s"], onRetryFailure: ABORT }),
  action("ManualIntervention", { timeout: "1h", onTimeout: ABORT }),
];

const LOOPS = [
  {
    strategy: {
      matrix: { os: ["a", "b"], exclude: [{ os: "b" }], nodeName: "n_<+matrix.os>", maxConcurrency: 1 },
      onFailure: "SkipQueued",
    },
  },
  { strategy: { repeat: { items: ["a", "b"], partitionSize: 1, nodeName: "n", maxConcurrency: 1 } } },
  { strategy: { repeat: { times: 2 } } },
  { strategy: { parallelism: 2 } },
];

const common = (status: string): readonly Fields[] => [
  { description: "d", timeout: "5m", when: { [status]: "Failure", condition: "true" } },
  ...STRATEGIES,
  ...LOOPS,
];

const STAGES = [...common("pipelineStatus"), ...VARIABLES, { tags: { a: "b" }, delegateSelectors: ["linux"] }];

const execution = { steps: [step("one")], rollbackSteps: [step("undo")] };
const service = {
  serviceRef: "s",
  serviceDefinition: { type: "Kubernetes", spec: { variables: [STRING] } },
};
const cluster = {
  type: "KubernetesDirect",
  spec: { connectorRef: "cluster", namespace: "web", releaseName: "r" },
};
const deployment = (infrastructure: Fields = {}, serviceConfig: Fields = service): Fields => ({
  deploymentType: "Kubernetes",
  serviceConfig,
  infrastructure: {
    environmentRef: "e",
    infrastructureDefinition: cluster,
    allowSimultaneousDeployments: false,
    ...infrastructure,
  },
  execution,
});
const withVariables = (variables: readonly Fields[]): Fields => ({
  serviceRef: "s",
  serviceDefinition: { type: "Kubernetes", spec: { variables } },
});

const chain = {
  ...{ org: "default", project: "p", pipeline: "child", inputSetReferences: ["set"] },
  inputs: { identifier: "child", variables: [{ name: "a", type: "String", value: "v" }] },
  outputs: [{ name: "o", value: "<+pipeline.name>" }],
};

const stage = (type: string, spec: Fields): Fields => ({ type, name: "S", identifier: "s", spec });

/** What is in a document beside the fields of a sample, and the samples, by place. */
export const PLACES: {
  readonly [place: string]: {
    readonly documentOf: (fields: Fields) => Fields;
    readonly samples: readonly Fields[];
  };
} = {
  pipeline: {
    documentOf: pipeline,
    samples: [
      { orgIdentifier: "default", projectIdentifier: "p", description: "d", tags: { a: "b" }, timeout: "5m" },
      { name: "P", identifier: "p", delegateSelectors: ["linux"], allowStageExecutions: true },
      { stages: [{ stage: stage("Custom", { execution }) }] },
      { flowControl: { barriers: [{ identifier: "b", name: "B" }] } },
      ...VARIABLES,
    ],
  },
  "stage Deployment": {
    documentOf: (fields) => inPipeline({ ...stage("Deployment", deployment()), ...fields }),
    samples: [
      ...STAGES,
      stage("Deployment", deployment()),
      ...VARIABLES.map(({ variables }) => ({ spec: deployment({}, withVariables(variables)) })),
    ],
  },
  "stage Custom": {
    documentOf: (fields) => inPipeline({ ...stage("Custom", { execution }), ...fields }),
    samples: [...STAGES, stage("Custom", { execution })],
  },
  "stage Approval": {
    documentOf: (fields) => inPipeline({ ...stage("Approval", { execution }), ...fields }),
    samples: [...STAGES, stage("Approval", { execution })],
  },
  "stage Pipeline": {
    documentOf: (fields) => inPipeline({ ...stage("Pipeline", chain), ...fields }),
    samples: [...STAGES, stage("Pipeline", chain)],
  },
  stepGroup: {
    documentOf: (fields) => inStage({ stepGroup: { name: "G", identifier: "g", steps: [step("inner")], ...fields } }),
    samples: [
      ...common("stageStatus"),
      ...VARIABLES,
      { delegateSelectors: ["linux"] },
      { name: "G", identifier: "g", steps: [step("two")], rollbackSteps: [step("undo")] },
    ],
  },
  step: {
    documentOf: (fields) => inStage(step("one", fields)),
    samples: [...common("stageStatus"), step("one")["step"] as Fields],
  },
};

const jexl = { type: "Jexl", spec: { expression: '<+output.outputVariables.out1> == "a1"' } };
const keyValues = {
  type: "KeyValues",
  spec: { matchAnyCondition: true, conditions: [{ key: "out1", operator: "equals", value: "b" }] },
};
const customApproval = (criteria: Fields): Fields => ({
  ...script("echo <+pipeline.name>"),
  environmentVariables: [{ name: "A", type: "String", value: "v" }],
  outputVariables: ["out1", "out3"].map((name) => ({ name, type: "String", value: "OUT" })),
  ...{ retryInterval: "1m", scriptTimeout: "30s", delegateSelectors: ["linux"] },
  ...criteria,
});

/** Samples of `spec`, by step type. */
export const SPECS: { readonly [type: string]: readonly Fields[] } = {
  ShellScript: [
    {
      ...script("echo <+pipeline.name>"),
      onDelegate: true,
      errexit: true,
      environmentVariables: [{ name: "A", type: "String", value: "v" }],
      outputVariables: [{ name: "out", type: "String", value: "OUT" }],
      outputAlias: { key: "built", scope: "Stage" },
      delegateSelectors: ["linux"],
    },
    {
      ...script("true"),
      onDelegate: false,
      executionTarget: { host: "h.example.com", connectorRef: "ssh", workingDirectory: "/srv" },
    },
  ],
  Http: [
    {
      url: "http://example.com/<+spec.inputVariables.who>",
      method: "POST",
      headers: [{ key: "accept", value: "text/plain" }],
      requestBody: "b",
      assertion: "<+httpResponseCode> == 200",
      inputVariables: [{ name: "who", type: "String", value: "w" }],
      outputVariables: [{ name: "code", type: "String", value: "<+httpResponseCode>" }],
      delegateSelectors: ["linux"],
    },
  ],
  Wait: [{ duration: "10m" }],
  PlatformApproval: [
    {
      approvalMessage: "m",
      includePipelineExecutionHistory: true,
      approvers: {
        ...{ minimumCount: 1, disallowPipelineExecutor: true, userGroups: ["g"], serviceAccounts: ["robot"] },
        disallowedUserEmails: ["a@example.com"],
      },
      approverInputs: [{ name: "one", defaultValue: "a", required: true, allowedValues: ["a", "b"] }],
      isAutoRejectEnabled: false,
      autoApproval: {
        action: "APPROVE",
        scheduledDeadline: { time: "2026-07-03 10:08 AM", timeZone: "Europe/Berlin" },
        comments: "c",
      },
      callbackId: "c",
    },
    ...[{ regex: "a.*" }, { selectOneFrom: ["a", "b"] }, { selectManyFrom: ["a", "b"] }].map((rule) => ({
      includePipelineExecutionHistory: true,
      approvers: { minimumCount: 1, disallowPipelineExecutor: true, userGroups: ["g"] },
      approverInputs: [{ name: "one", defaultValue: "a", ...rule }],
    })),
  ],
  Queue: [{ key: "k", scope: "Stage" }],
  Barrier: [{ barrierRef: "b" }],
  Email: [
    {
      subject: "s",
      to: ["a@example.com"],
      toUserGroups: ["g"],
      cc: ["b@example.com"],
      ccUserGroups: ["h"],
      body: "b",
      fireAndForget: true,
    },
  ],
  CustomApproval: [
    customApproval({ approvalCriteria: jexl, rejectionCriteria: keyValues }),
    customApproval({ approvalCriteria: keyValues, rejectionCriteria: jexl }),
    customApproval({ approvalCriteria: jexl }),
  ],
};

export const specDocument = (type: string, spec: Fields): Fields => inStage(step("one", { type, spec }));

function inStage(item: Fields): Fields {
  return inPipeline(stage("Custom", { execution: { steps: [item] } }));
}

const inPipeline = (one: Fields): Fields => pipeline({ stages: [{ stage: one }] });

function pipeline(fields: Fields): Fields {
  const barrier = step("meet", { type: "Barrier", spec: { barrierRef: "b" } });
  const stages = [{ stage: stage("Custom", { execution: { steps: [step("one"), barrier] } }) }];
  const flowControl = { barriers: [{ identifier: "b", name: "B" }] };
  return { pipeline: { name: "P", identifier: "p", flowControl, stages, ...fields } };
}

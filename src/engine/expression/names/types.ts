/** The members of everything that has them by its kind, apart from what a document names. */
import { type NameRow, name, refused, type TypeName, type TypeRow } from "./shape.ts";

const RESULTS: readonly NameRow[] = [
  name("status: text", "`RUNNING`, `SUCCEEDED`, `FAILED`, `IGNORE_FAILED`, `SKIPPED`, `ABORTED`, `EXPIRED`, …"),
  name("currentStatus: text", "The same, but `FAILED` at once while it still rolls back."),
  name("startTs: number", "Start, in epoch milliseconds."),
  name("endTs: number", "End, in epoch milliseconds."),
];

const NAMED: readonly NameRow[] = [
  name("name: text", "Its name."),
  name("identifier: text", "Its identifier."),
  name("description: text", "Its description."),
];

const CONTROL: readonly NameRow[] = [
  name("timeout: text", "As in the document, such as `10m`."),
  name("when: any", "As in the document."),
  name("strategy: any", "As in the document."),
  name("failureStrategies: list", "As in the document."),
];

const LOOP: readonly NameRow[] = [
  name("matrix: map of any", "Of a repetition: the values of the matrix, by axis."),
  name("repeat: Repeat", "Of a repetition: its item."),
  name("strategy: Strategy", "Of a repetition: its number."),
];

const LISTS: readonly NameRow[] = [
  name("steps: map of Step", "Steps and step groups, by identifier."),
  name("rollbackSteps: map of Step", "Rollback steps, by identifier."),
];

export const TYPES: Readonly<Record<TypeName, TypeRow>> = {
  Pipeline: {
    description: "The pipeline and its execution.",
    members: [
      ...NAMED,
      name("orgIdentifier: text", "Its organization."),
      name("projectIdentifier: text", "Its project."),
      name("tags: map of text", "Its tags."),
      name("variables: map of any", "Its variables."),
      name("stages: map of Stage", "Its stages, by identifier."),
      name("executionId: text", "The id of the execution."),
      name("sequenceId: number", "The number of the execution."),
      name("triggerType: text", "`MANUAL`, `WEBHOOK`, …"),
      name("triggeredBy: Person", "The person or trigger that started it."),
      name("delegateSelectors: list", "As in the document."),
      ...RESULTS,
      ...CONTROL,
      ...["properties", "flowControl", "allowStageExecutions", "notificationRules"].map((field) =>
        name(field, "As in the document."),
      ),
      ...refused("executionUrl executionMode selectedStages resumedExecutionId storeType repo branch liveStatus"),
    ],
  },
  Person: {
    description: "A user, service account or trigger.",
    members: [name("name: text", "Its name."), name("email: text", "Its address; empty if it has none.")],
  },
  Stage: {
    description: "A stage of the pipeline.",
    members: [
      ...NAMED,
      name("type: text", "As in the document."),
      name("tags: map of text", "Its tags."),
      name("variables: map of any", "Its variables."),
      name("spec: StageSpec", "As in the document."),
      name("delegateSelectors: list", "As in the document."),
      ...RESULTS,
      ...CONTROL,
      ...LOOP,
      name("output: map of text", "Of a stage of the type Pipeline, once it has ended: its outputs."),
      ...refused("executionUrl nodeExecutionId liveStatus"),
    ],
  },
  StageSpec: {
    description: "The specification of a stage.",
    members: [name("execution: Execution", "Its steps.")],
    isOpen: true,
  },
  Execution: { description: "The steps of a stage.", members: LISTS },
  Step: {
    description: "A step or a step group.",
    members: [
      ...NAMED,
      name("type: text", "As in the document."),
      name("spec: any", "As in the document."),
      name("output: Output", "What it left, once it has ended."),
      name("retryCount: number", "How often it was tried again."),
      ...LOOP,
      name("variables: map of any", "Its variables."),
      ...LISTS,
      ...RESULTS,
      ...CONTROL,
      ...refused("executionId executionUrl nodeExecutionId liveStatus delegateSelectors"),
    ],
  },
  Output: {
    description: "What a step left.",
    members: [
      name("outputVariables: map of any", "Its output variables, as texts."),
      name("httpResponseCode: number", "Of an Http step: the status code."),
      name("httpResponseBody: text", "Of an Http step: the body."),
      name("httpMethod: text", "Of an Http step: the method."),
      name("httpUrl: text", "Of an Http step: the URL, secrets masked."),
      name("status: text", "Of an Http step: `SUCCESS` or `FAILURE`."),
      name("errorMsg: text", "Of an Http step: why it failed; empty otherwise."),
      name("approverInputs: map of any", "Of an approval: the values that were entered."),
      name("approvalActivities: list", "Of an approval: who decided what."),
    ],
  },
  StepGroup: {
    description: "The step group that the step stands in.",
    members: [
      ...NAMED,
      name("variables: map of any", "Its variables."),
      name("retryCount: number", "How often it was tried again."),
      ...LISTS,
      ...LOOP,
      ...RESULTS,
      ...CONTROL,
    ],
  },
  Service: {
    description: "The service of a stage, as it was when the execution started.",
    members: [...NAMED, name("tags: map of text", "Its tags."), ...refused("type variables gitOpsEnabled")],
  },
  Environment: {
    description: "The environment of a stage, as it was when the execution started.",
    members: [
      ...NAMED,
      name("tags: map of text", "Its tags."),
      name("type: text", "`Production` or `PreProduction`."),
      ...refused("variables envGroupName envGroupRef"),
    ],
  },
  Infrastructure: {
    description: "The infrastructure definition of a stage.",
    members: [
      name("connectorRef: text", "The connector of the cluster."),
      name("namespace: text", "The namespace."),
      name("releaseName: text", "The name of the release."),
      ...refused("name infraIdentifier tags connector"),
    ],
  },
  Approval: {
    description: "An approval.",
    members: [
      name("approverInputs: map of any", "The values that were entered."),
      name("approvalActivities: list", "Who decided what."),
    ],
  },
  Trigger: {
    description: "What started the execution; null if no trigger did.",
    members: [
      name("type: text", "The trigger's type, such as `Webhook`."),
      name("payload: any", "The body of the request."),
      name("header: map of text", "Headers of the request."),
      ...refused("event sourceBranch targetBranch commitSha gitUser sourceRepo prNumber prTitle repoUrl baseCommitSha"),
    ],
  },
  Account: {
    description: "The account.",
    members: [name("identifier: text", "Its identifier."), name("name: text", "Its name.")],
  },
  Organization: {
    description: "The organization of the pipeline.",
    members: [name("identifier: text", "Its identifier."), ...refused("name description tags")],
  },
  Project: {
    description: "The project of the pipeline.",
    members: [
      name("identifier: text", "Its identifier."),
      name("name: text", "Its name."),
      ...refused("description tags"),
    ],
  },
  Repeat: {
    description: "The item of a `repeat`.",
    members: [
      name("item: any", "The item of this instance; null where items are partitioned."),
      name("partition: list", "The items of this instance, where they are partitioned."),
      name("index: number", "Its position, from 0."),
    ],
  },
  StepInputs: {
    description: "The fields of a step.",
    members: [name("inputVariables: map of any", "Its input variables.")],
  },
  Strategy: {
    description: "The instance of a looping strategy.",
    members: [
      name("iteration: number", "The number of this instance, from 0."),
      name("iterations: number", "How many instances there are."),
      name("identifierPostFix: text", "The end of this instance's identifier, such as `_0_1`."),
    ],
  },
};

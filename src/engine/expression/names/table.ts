/** What an expression may begin with. */
import type { Json } from "../../model.ts";
import { type NameRow, name, refused } from "./shape.ts";

export type RootRow = NameRow & {
  readonly example: string;
  readonly result: Json;
  /** The texts that alone can read it; all texts where there is none. */
  readonly place?: string;
};

const root = (signature: string, description: string, [example, result]: readonly [string, Json]): RootRow => ({
  ...name(signature, description),
  ...{ example, result },
});

/** A name that a step type gives a value, in some of its texts. */
const local = (place: string, signature: string, description: string, sample: readonly [string, Json]): RootRow => ({
  ...root(signature, `In ${place}: ${description}`, sample),
  place,
});

const HTTP = "an Http step";
const RESPONSE = "the assertion and the output variables of an Http step";
const CRITERIA = "the criteria of a CustomApproval step";

/**
 * `contextOf` (src/pipelines/document/context.ts) makes the values of `pipeline`, `trigger`, `account`, `org` and
 * `project`; src/engine/scope.ts maps the others to places below `pipeline`.
 */
export const ROOTS: readonly RootRow[] = [
  root("pipeline: Pipeline", "The pipeline and its execution.", ["<+pipeline.variables.env>", "prod"]),
  root("stage: Stage", "The stage that the text stands in.", ["<+stage.identifier>", "deploy"]),
  root("step: Step", "The step that the text stands in.", ["<+step.name>", "Roll out"]),
  root("steps: map of Step", "The steps of the stage, by identifier.", ["<+steps.build.status>", "SUCCEEDED"]),
  root("execution: Execution", "The steps and rollback steps of the stage.", [
    "<+execution.steps.build.output.outputVariables.version>",
    "1.4.2",
  ]),
  root("stepGroup: StepGroup", "The step group that the text stands in.", ["<+stepGroup.identifier>", "checks"]),
  root("matrix: map of any", "The values of the matrix at this repetition, by axis.", ["<+matrix.os>", "linux"]),
  root("repeat: Repeat", "The item of this repetition.", ["<+repeat.item>", "blue"]),
  root("strategy: Strategy", "The number of this repetition, from 0, and how many there are.", [
    "<+strategy.iteration>",
    1,
  ]),
  root("service: Service", "The service of the stage.", ["<+service.name>", "Web shop"]),
  root("env: Environment", "The environment of the stage.", ["<+env.type>", "Production"]),
  root("infra: Infrastructure", "The infrastructure of the stage.", ["<+infra.namespace>", "web"]),
  root("INFRA_KEY: text", "SHA-1 of service, environment, connector and namespace, with - between them.", [
    "<+INFRA_KEY.length()>",
    40,
  ]),
  root("INFRA_KEY_SHORT_ID: text", "The first six characters of INFRA_KEY.", ["<+INFRA_KEY_SHORT_ID>", "0a1b2c"]),
  root("approval: Approval", "The last approval before the node.", [
    "<+approval.approvalActivities[0].user.email>",
    "ada@example.com",
  ]),
  root("exportedVariables: map of any", "Outputs of steps with an `outputAlias`, by scope, key and name.", [
    '<+exportedVariables.getValue("stage.build.version")>',
    "1.4.2",
  ]),
  root("trigger: Trigger", "The request that started the execution.", ["<+trigger.payload.ref>", "refs/heads/main"]),
  root("account: Account", "The account.", ["<+account.identifier>", "acme"]),
  root("org: Organization", "The organization.", ["<+org.identifier>", "retail"]),
  root("project: Project", "The project.", ["<+project.name>", "Shop"]),
  local(HTTP, "spec: StepInputs", "its input variables.", ["<+spec.inputVariables.team>", "shop"]),
  local(RESPONSE, "httpResponseCode: number", "the status code.", ["<+httpResponseCode>", 200]),
  local(RESPONSE, "httpResponseBody: text", "the body.", ['<+json.select("state", httpResponseBody)>', "ready"]),
  local(RESPONSE, "httpResponseHeaders: map of text", "the headers, by name in lower case.", [
    '<+httpResponseHeaders.get("content-type")>',
    "application/json",
  ]),
  local(RESPONSE, "httpMethod: text", "the method.", ["<+httpMethod>", "GET"]),
  local(CRITERIA, "output: Output", "what the script left.", ["<+output.outputVariables.state>", "ready"]),
  local(RESPONSE, "httpUrl: text", "the URL, secrets masked.", ["<+httpUrl>", "https://api.example.com/shop"]),
];

/** Pipelines of this kind use these names, and this version has no value for them. */
export const REFUSED_ROOTS: readonly NameRow[] = refused(
  `variable serviceConfig serviceVariables infrastructure artifact artifacts manifest manifests configFile
   fileStore kubernetes item rollbackSteps codebase eventPayload inputSet instance connectors
   notification OnPipelineSuccess OnPipelineFailure OnStageSuccess
   OnStageFailure OnRollbackModeExecution Always`,
);

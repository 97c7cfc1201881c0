/** Pieces of pipelines to begin with. */
import { stringify } from "yaml";
import { z } from "zod";
import { constantData, type ConstantData } from "../../platform/http/response/answers.ts";
import { stepModules } from "../../steps/table.ts";
import { stageTypes } from "../document/stage.ts";

const KINDS = ["Stage", "Step", "StepGroup", "Parallel", "Strategy", "FailureStrategies", "Condition"] as const;

export const snippetShape = z.strictObject({
  place: z.enum(["stages", "steps", "step"]).describe("An item of such a list, or fields of a step."),
  kind: z.enum(KINDS),
  type: z
    .enum([...stageTypes("saved"), ...stepModules].map(({ type }) => type))
    .nullable()
    .describe("Of a stage or step."),
  name: z.string(),
  description: z.string(),
  yaml: z.string().describe("Without indentation."),
  pipelineYaml: z.string().nullable().describe("Fields that the pipeline needs for it."),
});

type Snippet = z.output<typeof snippetShape>;
type Fields = { readonly [field: string]: unknown };

const identifierOf = (name: string): string => name.toLowerCase().replaceAll(" ", "_");
const named = (name: string): Fields => ({ name, identifier: identifierOf(name) });

type StepModule = (typeof stepModules)[number];

const stepOf = ({ type, snippet }: StepModule): Fields => ({
  step: { type, ...named(snippet.name), spec: snippet.spec },
});

const stepSnippet = (module: StepModule): Snippet => ({
  ...{ place: "steps", kind: "Step", type: module.type, name: module.type, description: module.description },
  yaml: stringify([stepOf(module)]),
  pipelineYaml: module.snippet.pipeline ? stringify(module.snippet.pipeline) : null,
});

function firstStep(name?: string): Fields {
  const [first] = stepModules;
  if (!first) throw new Error("there is no step type");
  return stepOf(name === undefined ? first : { ...first, snippet: { ...first.snippet, name } });
}

const execution = (): Fields => ({ execution: { steps: [firstStep()] } });

/** A stage of each type. */
const STAGES: Readonly<Record<string, { readonly name: string; readonly description: string; readonly spec: Fields }>> =
  {
    Deployment: {
      name: "Deploy",
      description: "Deploys a service to an environment.",
      spec: {
        deploymentType: "Kubernetes",
        serviceConfig: { serviceRef: "service" },
        infrastructure: { environmentRef: "environment" },
        execution: { steps: [firstStep()], rollbackSteps: [] },
      },
    },
    Custom: { name: "Steps", description: "Runs steps without a service and an environment.", spec: execution() },
    Approval: {
      name: "Approval",
      description: "Waits for approval.",
      spec: { execution: { steps: stepModules.filter(({ type }) => type === "PlatformApproval").map(stepOf) } },
    },
    Pipeline: {
      name: "Other pipeline",
      description: "Runs another pipeline.",
      spec: { org: "default", project: "project", pipeline: "pipeline" },
    },
  };

function stageOf(type: string, name = STAGES[type]?.name ?? ""): Fields {
  const known = STAGES[type];
  if (!known) throw new Error(`the stage type ${type} has no snippet`);
  return { stage: { ...named(name), type, spec: known.spec } };
}

const stageSnippet = (type: string): Snippet => ({
  ...{ place: "stages", kind: "Stage", type, name: type, description: STAGES[type]?.description ?? "" },
  ...{ yaml: stringify([stageOf(type)]), pipelineYaml: null },
});

type Piece = Pick<Snippet, "place" | "kind" | "name" | "description"> & { readonly value: unknown };

const piece = ({ value, ...fields }: Piece): Snippet => ({
  ...{ ...fields, type: null },
  ...{ yaml: stringify(value), pipelineYaml: null },
});

const pieces = (): readonly Piece[] => [
  {
    ...{ place: "steps", kind: "StepGroup", name: "Step group", description: "Steps with settings in common." },
    value: [{ stepGroup: { ...named("Group"), steps: [firstStep()] } }],
  },
  {
    ...{ place: "steps", kind: "Parallel", name: "Parallel steps", description: "Steps that run at the same time." },
    value: [{ parallel: [firstStep("Left"), firstStep("Right")] }],
  },
  {
    ...{ place: "stages", kind: "Parallel", name: "Parallel stages", description: "Stages that run at the same time." },
    value: [{ parallel: [stageOf("Custom", "Left"), stageOf("Custom", "Right")] }],
  },
  {
    ...{ place: "step", kind: "Strategy", name: "Matrix", description: "Runs it for each combination of values." },
    value: { strategy: { matrix: { region: ["eu", "us"], size: ["small", "large"], maxConcurrency: 2 } } },
  },
  {
    ...{ place: "step", kind: "Strategy", name: "Repeat", description: "Runs it for each item of a list." },
    value: { strategy: { repeat: { items: ["a", "b"] } } },
  },
  {
    ...{ place: "step", kind: "FailureStrategies", name: "Retry", description: "Tries again after a failure." },
    value: failureStrategy({ type: "Retry", spec: { retryCount: 3, retryIntervals: ["10s", "1m"] } }),
  },
  {
    ...{ place: "step", kind: "FailureStrategies", name: "Ask a person", description: "Waits for a decision." },
    value: failureStrategy({
      ...{ type: "ManualIntervention" },
      spec: { timeout: "1h", onTimeout: { action: { type: "Abort" } } },
    }),
  },
  {
    ...{ place: "step", kind: "Condition", name: "After a failure", description: "Runs after a failure only." },
    value: { when: { stageStatus: "Failure" } },
  },
];

const failureStrategy = (action: Fields): Fields => ({
  failureStrategies: [{ onFailure: { errors: ["AllErrors"], action } }],
});

let made: ConstantData | undefined;

/** Stages first, then steps, then what controls them. */
export const snippets = (): ConstantData =>
  (made ??= constantData([
    ...stageTypes("saved").map(({ type }) => stageSnippet(type)),
    ...stepModules.map(stepSnippet),
    ...pieces().map(piece),
  ]));

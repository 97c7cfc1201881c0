import { z } from "zod";
import {
  allLater,
  choice,
  delegateSelectors,
  description,
  identifier,
  MAX_PARALLEL,
  name,
  namedList,
  oneOf,
  oneOfFields,
  type Phase,
  tags,
  timeout,
  TOO_MANY_PARALLEL,
  typed,
} from "../../steps/schema/fields.ts";
import { variable } from "../../steps/schema/variables.ts";
import { stageCondition } from "./conditions.ts";
import { type ChainSpec, chainSpec } from "./chain.ts";
import { deploymentSpec } from "./deployment.ts";
import { failureStrategies } from "./failure-strategies.ts";
import { strategy } from "./looping.ts";
import { execution, type ExecutionDocument } from "./step.ts";

const LATER_TYPES = oneOf("Deployment Approval Custom Pipeline CI FeatureFlag Security SecurityTests IACM Dynamic IDP");

const common = (phase: Phase) => ({
  name: name.describe("Shown in lists"),
  identifier: identifier.describe("For expressions; unique in the pipeline"),
  description: description.describe("Any text"),
  tags: tags.describe("Labels: name and value"),
  variables: namedList(variable(phase)).nullish().describe("`<+stage.variables.NAME>`"),
  delegateSelectors: delegateSelectors(phase).describe("For its steps that have none"),
  failureStrategies: failureStrategies(phase).describe("What follows from the failure of a step"),
  when: stageCondition(phase).nullish().describe("Whether it runs"),
  strategy: strategy(phase).nullish().describe("Runs it several times"),
  timeout: timeout(phase).describe("How long it may run"),
  ...allLater("runMode", "skipInstances", "template"),
});

const deploymentStage = (phase: Phase) =>
  z.strictObject({
    type: z.literal("Deployment").describe("The stage type"),
    ...common(phase),
    spec: deploymentSpec(phase).describe("What the stage says"),
  });

/** Steps without a target: of the types Custom and Approval. */
const plainStage = <T extends "Custom" | "Approval">(type: T, phase: Phase) =>
  z.strictObject({
    type: z.literal(type).describe("The stage type"),
    ...common(phase),
    spec: z
      .strictObject({
        execution: execution(phase).describe("What it runs"),
        ...allLater("environment", "serviceDependencies"),
      })
      .describe("What the stage says"),
  });

/** Another pipeline in place of steps: it has delegate selectors of its own. */
const chainedStage = (phase: Phase) =>
  z.strictObject({
    type: z.literal("Pipeline").describe("The stage type"),
    ...common(phase),
    ...allLater("delegateSelectors"),
    spec: chainSpec(phase).describe("What the stage says"),
  });

type DeploymentStage = z.output<ReturnType<typeof deploymentStage>>;
type PlainStage = z.output<ReturnType<typeof plainStage<"Custom" | "Approval">>>;
type ChainedStage = z.output<ReturnType<typeof chainedStage>>;
export type StageDocument = DeploymentStage | PlainStage | ChainedStage;

/** Of a Deployment; other stages deploy nothing. */
export const deploymentOf = (stage: StageDocument): DeploymentStage["spec"] | undefined =>
  stage.type === "Deployment" ? stage.spec : undefined;

/** Of a stage that runs another pipeline. */
export const chainOf = (stage: StageDocument): ChainSpec | undefined =>
  stage.type === "Pipeline" ? stage.spec : undefined;

/** The steps of a stage; none in one that runs another pipeline. */
export const executionOf = (stage: StageDocument): Partial<ExecutionDocument> =>
  stage.type === "Pipeline" ? {} : (stage.spec.execution ?? {});

/** One of the two. */
export type StageItem = {
  readonly stage?: StageDocument | undefined;
  readonly parallel?: readonly StageItem[] | undefined;
};

const PLAIN_TYPES = ["Custom", "Approval"] as const;

export const stageTypes = (phase: Phase): readonly { readonly type: string; readonly schema: z.ZodObject }[] => [
  { type: "Deployment", schema: deploymentStage(phase) },
  ...PLAIN_TYPES.map((type) => ({ type, schema: plainStage(type, phase) })),
  { type: "Pipeline", schema: chainedStage(phase) },
];

function stage(phase: Phase): z.ZodType<StageDocument> {
  const types = stageTypes(phase);
  const [first = "", ...others] = types.map(({ type }) => type);
  const schemas = types.map(({ schema }) => schema);
  const type = choice("Stage type", [first, ...others], LATER_TYPES);
  return typed(type, schemas, allLater("template")) as unknown as z.ZodType<StageDocument>;
}

/** An item of `stages`. */
export function stageItem(phase: Phase): z.ZodType<StageItem> {
  const single = { stage: stage(phase).describe("One stage"), ...allLater("insert", "group") };
  const inParallel = z
    .array(oneOfFields({ ...single, ...allLater("parallel") }))
    .min(1)
    .max(MAX_PARALLEL, { error: TOO_MANY_PARALLEL })
    .describe("Stages that run at the same time");
  return oneOfFields({ ...single, parallel: inParallel }) as unknown as z.ZodType<StageItem>;
}

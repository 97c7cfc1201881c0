import { z } from "zod";
import {
  allLater,
  delegateSelectors,
  description,
  identifier,
  name,
  namedList,
  type Phase,
  tags,
  timeout,
} from "../../steps/schema/fields.ts";
import { variable } from "../../steps/schema/variables.ts";
import { flowControl } from "./flow-control.ts";
import { stageItem } from "./stage.ts";

const schemaOf = (phase: Phase) =>
  z.strictObject({
    name: name.describe("Shown in lists"),
    identifier: identifier.describe("Unique in the project"),
    orgIdentifier: z.string().nullish().describe("The organization of the request"),
    projectIdentifier: z.string().nullish().describe("The project of the request"),
    description: description.describe("Any text"),
    tags: tags.describe("Labels: name and value"),
    variables: namedList(variable(phase)).nullish().describe("`<+pipeline.variables.NAME>`"),
    delegateSelectors: delegateSelectors(phase).describe("For its steps that have none"),
    stages: z.array(stageItem(phase)).min(1).describe("Run one after the other"),
    timeout: timeout(phase).describe("How long it may run"),
    flowControl: flowControl.nullish().describe("Barriers of its steps"),
    allowStageExecutions: z.boolean().nullish().describe("Whether a run may take single stages of it"),
    ...allLater("properties", "notificationRules"),
    ...allLater("fixedInputsOnRerun", "template", "strategy", "when", "failureStrategies"),
  });

const schemas = { saved: schemaOf("saved"), merged: schemaOf("merged") };

/** What stands under the key `pipeline`: as saved with runtime inputs, as run without. */
export const pipelineSchema = (phase: Phase) => schemas[phase];

export type PipelineDocument = z.output<(typeof schemas)["saved"]>;
export { chainOf, deploymentOf, executionOf, type StageDocument, type StageItem } from "./stage.ts";
export type { ExecutionDocument, StepDocument, StepGroupDocument, StepItem } from "./step.ts";
export type { VariableDocument } from "../../steps/schema/variables.ts";

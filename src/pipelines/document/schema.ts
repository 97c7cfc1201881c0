import { z } from "zod";
import {
  allLater,
  delegateSelectors,
  description,
  identifier,
  name,
  type Phase,
  tags,
} from "../../steps/schema/fields.ts";
import { stageItem } from "./stage.ts";
import { variable } from "../../steps/schema/variables.ts";

const pipeline = (phase: Phase) =>
  z.strictObject({
    name,
    identifier,
    /** Those of the request when left out; never others. */
    orgIdentifier: z.string().nullish(),
    projectIdentifier: z.string().nullish(),
    description,
    tags,
    variables: z.array(variable(phase)).nullish(),
    delegateSelectors: delegateSelectors(phase),
    stages: z.array(stageItem(phase)).min(1),
    ...allLater("properties", "notificationRules", "flowControl", "timeout", "allowStageExecutions"),
    ...allLater("fixedInputsOnRerun", "template", "strategy", "when", "failureStrategies"),
  });

const schemas = { saved: pipeline("saved"), merged: pipeline("merged") };

/** What stands under the key `pipeline`: as saved with runtime inputs, as run without. */
export const pipelineSchema = (phase: Phase) => schemas[phase];

export type PipelineDocument = z.output<(typeof schemas)["saved"]>;
export type StageDocument = PipelineDocument["stages"][number]["stage"];
export type { StepDocument } from "./step.ts";
export type VariableDocument = NonNullable<PipelineDocument["variables"]>[number];

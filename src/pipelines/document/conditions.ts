/** `when`: whether a stage, a step group or a step runs. */
import { z } from "zod";
import { choice, type Phase, text } from "../../steps/schema/fields.ts";

export const STATUSES = ["Success", "Failure", "All"] as const;

const status = (what: string) =>
  choice(what, STATUSES, () => false).describe(
    "`Success`: after no failure; `Failure`: after a failure; `All`: in any case",
  );

const condition = (phase: Phase) =>
  text(phase).nullish().describe('An expression that has to be true, as in `<+pipeline.variables.env> == "prod"`');

export const stageCondition = (phase: Phase) =>
  z.strictObject({ pipelineStatus: status("Pipeline status"), condition: condition(phase) });

export type StepConditionDocument = z.output<ReturnType<typeof stepCondition>>;

export const stepCondition = (phase: Phase) =>
  z.strictObject({ stageStatus: status("Stage status"), condition: condition(phase) });

import { z } from "zod";
import {
  allLater,
  choice,
  delegateSelectors,
  identifier,
  later,
  namedList,
  oneOf,
  type Phase,
  text,
} from "../schema/fields.ts";
import { environmentVariable, outputVariable } from "../schema/variables.ts";
import { checkTarget, executionTarget } from "./target.ts";

export const source = (phase: Phase) =>
  z.strictObject({
    type: choice("Script source", ["Inline"], () => false).describe("Where the script stands"),
    spec: z
      .strictObject({ script: text(phase).describe("Expressions in it become variables of Bash"), file: later })
      .describe("What the source says"),
  });

const outputAlias = z.strictObject({
  key: identifier.describe("Unique in its scope"),
  scope: choice("Scope of an outputAlias", ["Pipeline", "Stage", "StepGroup"], () => false).describe(
    "From where the outputs are read",
  ),
});

export const shellScript = (phase: Phase) =>
  z
    .strictObject({
      shell: choice("Shell", ["Bash"], oneOf("PowerShell")).describe("The program that runs the script"),
      onDelegate: z.boolean().nullish().describe("`false` runs the script on `executionTarget.host`"),
      errexit: z.boolean().nullish().describe("Ends the script at the first command that fails"),
      source: source(phase).describe("The script"),
      environmentVariables: namedList(environmentVariable(phase)).nullish().describe("Set for the script"),
      outputVariables: namedList(outputVariable).nullish().describe("Read when the script has ended"),
      executionTarget: executionTarget(phase).nullish().describe("The host to run on instead of the delegate"),
      delegateSelectors: delegateSelectors(phase).describe("Tags of the delegates that may run the step"),
      outputAlias: outputAlias.nullish().describe("A name for the outputs, to read them from other steps"),
      ...allLater("includeInfraSelectors"),
    })
    .superRefine(checkTarget);

export type ShellScriptSpec = z.output<ReturnType<typeof shellScript>>;

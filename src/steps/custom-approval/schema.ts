import { z } from "zod";
import { parseDuration } from "../../engine/index.ts";
import { choice, delegateSelectors, namedList, oneOf, type Phase, text } from "../schema/fields.ts";
import { isMarker } from "../schema/marker.ts";
import { environmentVariable, outputVariable as scriptOutput } from "../schema/variables.ts";
import { source } from "../shell-script/schema.ts";
import { criteria, type CriteriaSpec } from "./criteria.ts";

const DURATION = "A time is written like 30s, 10m or 1h 30m (units w d h m s), at least 10s, at most 53w";

const duration = (phase: Phase) =>
  text(phase, DURATION).refine(
    (value) => (phase === "saved" && isMarker(value)) || parseDuration(value) !== undefined,
    {
      error: DURATION,
    },
  );

/** Criteria compare texts: none of them is kept secret. */
const outputVariable = scriptOutput.extend({
  type: choice("Output variable type", ["String"], oneOf("Secret")).describe("Type of the value"),
});

const form = (phase: Phase) =>
  z.strictObject({
    shell: choice("Shell", ["Bash"], oneOf("PowerShell")).describe("The program that runs the script"),
    source: source(phase).describe("The script, which runs on a delegate"),
    retryInterval: duration(phase).describe("The pause after a run that decides nothing, at least `10s`"),
    scriptTimeout: duration(phase).describe("How long one run may take, at least `10s`"),
    approvalCriteria: criteria(phase).describe("When the step approves"),
    rejectionCriteria: criteria(phase).nullish().describe("When it rejects, unless it approves"),
    environmentVariables: namedList(environmentVariable(phase)).nullish().describe("Set for the script"),
    outputVariables: namedList(outputVariable).nullish().describe("Read when the script has ended"),
    delegateSelectors: delegateSelectors(phase).describe("Tags of the delegates that may run the script"),
  });

/** Conditions compare output variables that the script has. */
export const customApproval = (phase: Phase) =>
  form(phase).superRefine((spec, context) => {
    const known = (spec.outputVariables ?? []).map(({ name }) => name);
    for (const field of ["approvalCriteria", "rejectionCriteria"] as const) {
      const given = spec[field] as CriteriaSpec | null | undefined;
      if (given?.type !== "KeyValues") continue;
      for (const [index, { key }] of given.spec.conditions.entries()) {
        if (known.includes(key)) continue;
        const message = `'${key}' is none of the outputVariables${known.length > 0 ? `: ${known.join(", ")}` : ""}`;
        context.addIssue({ code: "custom", path: [field, "spec", "conditions", index, "key"], message });
      }
    }
  });

export type CustomApprovalSpec = z.output<ReturnType<typeof customApproval>>;

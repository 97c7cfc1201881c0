/** Maps plans, runtime inputs and faults to their public shapes. */
import { z } from "zod";
import { faultResponse } from "../../platform/http/response/envelope.ts";
import { INPUT_TYPES, type InputField } from "../document/input-fields.ts";
import { stageTypes } from "../document/stage.ts";
import { STATUSES } from "../document/conditions.ts";
import { stepModules } from "../../steps/table.ts";
import type { CheckResult, FoundFault } from "./check.ts";
import type { InputFault, RuntimeInputs } from "./runtime-inputs.ts";

const nodeInfo = z
  .strictObject({
    identifier: z.string().nullable(),
    name: z.string().nullable(),
    type: z.string().nullable(),
    fqn: z.string(),
  })
  .nullable();

const faultFields = {
  code: z.string().describe("As an error has it."),
  message: z.string(),
  fqn: z.string().describe("The path, as in `pipeline.stages[0].stage.name`; empty for the document as a whole."),
  line: z.int().nullable().describe("From 1; null where the fault has no place in the text."),
  column: z.int().nullable(),
  hintMessage: z.string().nullable(),
  stageInfo: nodeInfo,
  stepInfo: nodeInfo,
};

export const inputFaultShape = z.strictObject(faultFields);
export const inputFaultResponse = ({ code, ...fault }: InputFault) => ({ code, ...faultResponse(fault) });

const faultShape = z.strictObject({
  severity: z
    .enum(["ERROR", "WARNING"])
    .describe("ERROR: saving refuses it. WARNING: a run by the caller refuses it as things are now."),
  ...faultFields,
});
const faultOf = ({ severity, code, ...fault }: FoundFault) => ({ severity, code, ...faultResponse(fault) });

const namedShape = z.strictObject({ identifier: z.string(), name: z.string() }).nullable();

export const inputShape = z.strictObject({
  fqn: z.string().describe("The path in the pipeline."),
  templateFqn: z
    .string()
    .nullable()
    .describe("Where its value belongs in inputSetTemplateYaml; null if executionInput."),
  name: z.string().describe("Of a variable its name, otherwise the field."),
  description: z.string().nullable(),
  type: z
    .enum(INPUT_TYPES)
    .describe("What the value is; Secret, SSHKey, Service, Environment and Connector are references."),
  required: z.boolean().describe("Whether a run has to give a value."),
  default: z.string().nullable().describe("Taken where no value is given."),
  allowedValues: z.array(z.string()).nullable().describe("The only values."),
  multiple: z.boolean().describe("Several of the allowed values, as a list or separated by commas."),
  regex: z.string().nullable().describe("A pattern that matches all of a value."),
  executionInput: z.boolean().describe("Asked for while the pipeline runs, not before."),
  stage: namedShape,
  stepGroup: namedShape.describe("The innermost one."),
  step: namedShape,
});

export function inputResponse({ marker, nodes, ...field }: InputField) {
  const named = (kind: InputField["nodes"][number]["kind"]) => {
    const found = nodes.findLast((node) => node.kind === kind);
    return found ? { identifier: found.identifier, name: found.name } : null;
  };
  return {
    fqn: field.path,
    templateFqn: field.templatePath ?? null,
    name: field.name,
    description: field.description ?? null,
    type: field.type,
    required: field.isRequired,
    default: field.fallback ?? null,
    allowedValues: marker.allowed ?? null,
    multiple: marker.isMany ?? false,
    regex: marker.regex ?? null,
    executionInput: marker.isAsked ?? false,
    stage: named("stage"),
    stepGroup: named("group"),
    step: named("step"),
  };
}

export const runtimeInputsShape = z.strictObject({
  version: z.int(),
  inputSetTemplateYaml: z.string().nullable().describe("The YAML that a run takes; null if it takes no inputs."),
  inputs: z.array(inputShape),
});

export const runtimeInputsResponse = ({ version, template, fields }: RuntimeInputs) => ({
  version,
  inputSetTemplateYaml: template,
  inputs: fields.map(inputResponse),
});

const place = {
  path: z.string().describe("Unique in the plan."),
  parent: z.string().nullable().describe("The path of the node around it; null for the pipeline."),
  list: z.enum(["stages", "steps", "rollbackSteps"]),
  line: z.int().nullable(),
  column: z.int().nullable(),
};
const timeouts = {
  timeout: z.string().nullable().describe("As written; null where the node has none."),
  timeoutMs: z.int().nullable().describe("Null where there is none, or where the run decides."),
};
const secrets = z.array(z.string()).describe("References of the secrets that it names.");

const control = {
  identifier: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  ...timeouts,
  when: z
    .strictObject({ status: z.enum(STATUSES), condition: z.string().nullable() })
    .nullable()
    .describe("Null: it runs after no failure."),
  loop: z
    .strictObject({
      kind: z.enum(["Matrix", "Items", "Times"]),
      instances: z.int().nullable().describe("Null where expressions or runtime inputs decide."),
      axes: z.array(z.strictObject({ name: z.string(), count: z.int().nullable() })).describe("Of a matrix."),
      maxConcurrency: z.int().nullable(),
      onFailure: z.enum(["RunAll", "SkipQueued"]),
    })
    .nullable(),
  failureStrategies: z.array(z.strictObject({ errors: z.array(z.string()), action: z.string() })),
  secrets,
};
const delegateSelectors = z.array(z.string());

const nodeShape = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("Parallel"), ...place }),
  z.strictObject({
    ...{ kind: z.literal("Stage"), ...place, ...control, delegateSelectors },
    type: z.enum(stageTypes("saved").map(({ type }) => type)),
    service: z.string().nullable(),
    environment: z.string().nullable(),
    infrastructure: z
      .strictObject({ connector: z.string(), namespace: z.string(), releaseName: z.string() })
      .nullable(),
    pipeline: z
      .strictObject({
        orgIdentifier: z.string(),
        projectIdentifier: z.string(),
        identifier: z.string(),
        inputSetReferences: z.array(z.string()),
      })
      .nullable()
      .describe("The pipeline that the stage runs."),
  }),
  z.strictObject({ kind: z.literal("StepGroup"), ...place, ...control, delegateSelectors }),
  z.strictObject({
    ...{ kind: z.literal("Step"), ...place, ...control },
    type: z.enum(stepModules.map(({ type }) => type)),
    delegateSelectors: delegateSelectors.describe("Its own, or those of the first node around it that has any."),
  }),
]);

export const checkShape = z.strictObject({
  valid: z.boolean().describe("Whether saving takes the document: there is no ERROR."),
  faults: z.array(faultShape),
  plan: z
    .strictObject({
      identifier: z.string(),
      name: z.string(),
      ...timeouts,
      delegateSelectors,
      secrets,
      barriers: z.array(z.strictObject({ identifier: z.string(), name: z.string() })),
      inputs: z.array(inputShape),
      nodeCount: z.int().describe("All nodes; the list has at most 10,000."),
      nodes: z.array(nodeShape).describe("In the order of the document, each after the node around it."),
    })
    .nullable()
    .describe("Null where the document has not the shape of a pipeline."),
});

export const checkResponse = ({ faults, read }: CheckResult) => ({
  valid: faults.every(({ severity }) => severity !== "ERROR"),
  faults: faults.map(faultOf),
  plan: read ? { ...read.plan, inputs: read.inputs.map(inputResponse) } : null,
});

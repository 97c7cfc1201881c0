/** Maps input sets to their public shapes and back. */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { epochMs, stringMap, wireId } from "../../platform/http/response/shapes.ts";
import { gitShape, modulesShape, MODULES, NO_GIT, VALID, validityShape } from "../wire.ts";
import type { Checked, InputSetWithYaml, SetFault } from "./input-set.ts";
import { KINDS } from "./input-set.ts";
import type { Merged } from "./values.ts";
import type { OfPipeline } from "./of-pipeline.ts";

type Named = OfPipeline & { readonly accountId: Uuid };

const errorShape = z.strictObject({ fieldName: z.string(), message: z.string(), identifierOfErrorSource: z.string() });
const wrapperShape = z
  .strictObject({
    type: z.literal("InputSetErrorWrapper"),
    errorPipelineYaml: z.null(),
    uuidToErrorResponseMap: z.record(z.string(), z.strictObject({ errors: z.array(errorShape) })),
    invalidInputSetReferences: z.array(z.string()),
  })
  .nullable();

/** By the path in the pipeline, which several sets may have wrong; null when nothing is. */
function errorWrapper(faults: readonly SetFault[]) {
  if (faults.length === 0) return null;
  const byPath = Map.groupBy(faults, ({ path }) => path);
  return {
    type: "InputSetErrorWrapper",
    errorPipelineYaml: null,
    uuidToErrorResponseMap: Object.fromEntries(
      [...byPath].map(([path, ofPath]) => [
        path,
        {
          errors: ofPath.map(({ message, inputSet }) => ({
            fieldName: path.split(".").at(-1) ?? path,
            message,
            identifierOfErrorSource: inputSet,
          })),
        },
      ]),
    ),
    invalidInputSetReferences: [...new Set(faults.map(({ inputSet }) => inputSet))],
  };
}

/** What an overlay lists and the pipeline does not take any more: why, by the identifier of the set. */
const invalidReferences = (faults: readonly SetFault[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...Map.groupBy(faults, ({ inputSet }) => inputSet)].map(([inputSet, ofSet]) => [
      inputSet,
      ofSet.map(({ path, message }) => `${path}: ${message}`).join("; "),
    ]),
  );

const common = (set: Checked<InputSetWithYaml>, { accountId, ...within }: Named) => ({
  accountId: toWire(accountId),
  orgIdentifier: within.orgIdentifier,
  projectIdentifier: within.projectIdentifier,
  pipelineIdentifier: within.pipelineIdentifier,
  identifier: set.identifier,
  name: set.name,
  description: set.description,
  tags: set.tags,
  isOutdated: set.faults.length > 0,
  isErrorResponse: set.faults.length > 0,
  version: set.version,
  gitDetails: NO_GIT,
  entityValidityDetails: VALID,
});
const commonShape = {
  accountId: wireId,
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
  pipelineIdentifier: z.string(),
  identifier: z.string(),
  name: z.string(),
  description: z.string(),
  tags: stringMap,
  isOutdated: z.boolean().describe("Whether the pipeline has been changed so that a value has no place."),
  isErrorResponse: z.boolean(),
  version: z.int(),
  gitDetails: gitShape,
  entityValidityDetails: validityShape,
};

const inputSetResponse = (set: Checked<InputSetWithYaml>, named: Named) => ({
  ...common(set, named),
  inputSetYaml: set.yaml,
  inputSetErrorWrapper: errorWrapper(set.faults),
});
const inputSetShape = z.strictObject({ ...commonShape, inputSetYaml: z.string(), inputSetErrorWrapper: wrapperShape });

const overlayResponse = (set: Checked<InputSetWithYaml>, named: Named) => ({
  ...common(set, named),
  overlayInputSetYaml: set.yaml,
  inputSetReferences: set.references,
  invalidInputSetReferences: invalidReferences(set.faults),
});
const overlayShape = z.strictObject({
  ...commonShape,
  overlayInputSetYaml: z.string(),
  inputSetReferences: z.array(z.string()),
  invalidInputSetReferences: stringMap,
});

export const responses = { INPUT_SET: inputSetResponse, OVERLAY_INPUT_SET: overlayResponse } as const;
export const shapes = { INPUT_SET: inputSetShape, OVERLAY_INPUT_SET: overlayShape } as const;

export const summaryResponse =
  (pipelineIdentifier: string) =>
  ({ kind, faults, ...set }: Checked) => ({
    identifier: set.identifier,
    name: set.name,
    pipelineIdentifier,
    description: set.description,
    inputSetType: kind,
    tags: set.tags,
    version: set.version,
    gitDetails: NO_GIT,
    createdAt: set.createdAt,
    lastUpdatedAt: set.updatedAt,
    isOutdated: faults.length > 0,
    inputSetErrorDetails: kind === "INPUT_SET" ? errorWrapper(faults) : null,
    overlaySetErrorDetails: kind === "OVERLAY_INPUT_SET" ? invalidReferences(faults) : null,
    entityValidityDetails: VALID,
    modules: MODULES,
  });

export const summaryShape = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  pipelineIdentifier: z.string(),
  description: z.string(),
  inputSetType: z.enum(KINDS),
  tags: stringMap,
  version: z.int(),
  gitDetails: gitShape,
  createdAt: epochMs,
  lastUpdatedAt: epochMs,
  isOutdated: z.boolean(),
  inputSetErrorDetails: wrapperShape,
  overlaySetErrorDetails: stringMap.nullable(),
  entityValidityDetails: validityShape,
  modules: modulesShape,
});

export const templateResponse = ({ yaml, hasInputSets }: { yaml: string | null; hasInputSets: boolean }) => ({
  inputSetTemplateYaml: yaml,
  replacedExpressions: [],
  modules: MODULES,
  hasInputSets,
});

export const templateShape = z.strictObject({
  inputSetTemplateYaml: z.string().nullable().describe("Null when the pipeline has no runtime inputs."),
  replacedExpressions: z.array(z.string()).max(0),
  modules: modulesShape,
  hasInputSets: z.boolean(),
});

/** With sets that are outdated nothing is merged, and the answer says which and why. */
export const mergeResponse = ({ yaml, complete, faults }: Merged) => ({
  pipelineYaml: faults.length > 0 ? null : yaml,
  completePipelineYaml: complete,
  isErrorResponse: faults.length > 0,
  inputSetErrorWrapper: errorWrapper(faults),
});

export const mergeShape = z.strictObject({
  pipelineYaml: z.string().nullable().describe("Null when the pipeline has no runtime inputs."),
  completePipelineYaml: z.string().nullable(),
  isErrorResponse: z.boolean(),
  inputSetErrorWrapper: wrapperShape,
});

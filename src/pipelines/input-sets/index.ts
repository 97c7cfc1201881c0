/** Input sets and overlays: values for the runtime inputs of a pipeline, kept by name. */
import type { Route } from "../../platform/http/routes.ts";
import type { PipelineDeps } from "../create.ts";
import { makeCheckSets } from "./faults.ts";
import { makeInputsOfSets, makeMergeInputSets, type InputsOfSets } from "./merge.ts";
import { makeGetInputSet, makeGetInputTemplate, makeListInputSets } from "./read.ts";
import { inputSetRoutes } from "./rest.ts";
import { makeCreateInputSet, makeDeleteInputSet, makeUpdateInputSet } from "./write.ts";

export { chosenSets, setsBody } from "./bodies.ts";
export type { InputsOfSets } from "./merge.ts";

export function makeInputSets(pipelineDeps: PipelineDeps): {
  readonly inputsOfSets: InputsOfSets;
  readonly routes: readonly Route[];
} {
  const deps = { ...pipelineDeps, check: makeCheckSets(pipelineDeps) };
  const routes = inputSetRoutes({
    create: makeCreateInputSet(deps),
    update: makeUpdateInputSet(deps),
    remove: makeDeleteInputSet(deps),
    get: makeGetInputSet(deps),
    list: makeListInputSets(deps),
    template: makeGetInputTemplate(deps),
    merge: makeMergeInputSets(deps),
  });
  return { inputsOfSets: makeInputsOfSets(deps), routes };
}

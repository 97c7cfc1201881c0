/** Pipeline definitions: YAML, validation, versions, runtime inputs. */
import type { Uuid } from "../core/ids.ts";
import type { EmptyScope } from "../projects/index.ts";
import { makeAdoptInputSet, makeAdoptPipeline } from "./adopt.ts";
import { makeAdoptionReads } from "./adoption-reads.ts";
import type { PipelineDeps } from "./create.ts";
import { makeCheckScripts, type CheckScripts } from "./bash-syntax.ts";
import { makeCreatePipeline } from "./create.ts";
import { makeFindReferences, type FindReferencesDeps } from "./find-references.ts";
import { makeGetPipeline } from "./get.ts";
import { createListStageChoices } from "./stage-choices.ts";
import { makeGetNode, makeGetNodeByName, makeGetNodes, makeListNodes, makeListNodesOfProjects } from "./nodes.ts";
import { createFillPipeline } from "./jobs/keep-filled.ts";
import { createRunJob, type RunJob } from "./jobs/run-job.ts";
import { makeListVariables } from "./list-variables.ts";
import { checkPipeline } from "./editing/check.ts";
import { createDocumentSchemas, type DocumentForm } from "./editing/document-schemas.ts";
import { editingRoutes } from "./editing/rest.ts";
import { getRuntimeInputs, validateInputs } from "./editing/runtime-inputs.ts";
import type { InProject } from "./pipeline.ts";
import { makePrepareRun } from "./prepare-run.ts";
import { makeInputSets } from "./input-sets/index.ts";
import { makeRequirePrincipals, type RequirePrincipalsDeps } from "./principals.ts";
import { pipelineRoutes } from "./rest.ts";
import { pipelineV1Routes } from "./rest-v1.ts";
import { makeCompleteShown } from "./shown.ts";
import { deleteInputSetsOf } from "./store/input-sets.ts";
import { deletePipelinesOf } from "./store/pipelines.ts";
import {
  makeGetSummary,
  makeGetVersion,
  makeListSummaries,
  makeListVersions,
  makeRestoreVersion,
  type CountTriggers,
  type RecentRuns,
} from "./summaries.ts";
import { makeTagPipeline } from "./tag.ts";
import { makeDeletePipeline, makeUpdatePipeline } from "./update.ts";
import { makeValidatePipeline, makeValidateSaved } from "./validate.ts";

export type { InProject, MaybeInProject } from "./pipeline.ts";
export { addPipelineTypes, type PipelineNode } from "./graphql.ts";
export type { Workflow } from "./graphql-workflows.ts";
export type { PipelineVariable } from "./variables.ts";
export type { CheckScripts } from "./bash-syntax.ts";
export type { GetPipeline } from "./get.ts";
export { chosenSets, setsBody, type InputsOfSets } from "./input-sets/index.ts";
export type { PreparedRun, PrepareRun, TryInputs } from "./prepare-run.ts";
export { languageSections } from "./document/language-sections.ts";
export { pipelineSchema } from "./document/schema.ts";
export { keptText, type PipelineText } from "./text.ts";
export type { CountTriggers, RecentRuns } from "./summaries.ts";
export type { FindReferences } from "./find-references.ts";
export { shownAuthor, type AdoptInputSet, type Adoption, type AdoptPipeline } from "./adopt.ts";
export type { AdoptionReads, MakeAdoptionReads } from "./adoption-reads.ts";
export { submittedValues, withSubmitted } from "./submitted-inputs.ts";
export type { StageSelection } from "./document/select-stages.ts";
export type { ListStageChoices } from "./stage-choices.ts";
export type { Principal } from "./principal.ts";
export type { RequirePrincipals } from "./principals.ts";

/** The runtime inputs of a saved pipeline as YAML; null when it has none. */
export type ReadInputTemplate = (accountId: Uuid, yaml: string, scope: InProject) => Promise<string | null>;

const createReadTemplate =
  (runJob: RunJob): ReadInputTemplate =>
  (accountId, yaml, { orgIdentifier, projectIdentifier }) =>
    runJob(accountId, "template", { yaml, scope: { orgIdentifier, projectIdentifier } });

/** What starts and deliveries of secrets have in common. */
export const makePrincipals = (deps: FindReferencesDeps & RequirePrincipalsDeps) => ({
  requirePrincipals: makeRequirePrincipals(deps),
  findReferences: makeFindReferences(deps),
});

export type Pipelines = ReturnType<typeof makePipelines>;

type PipelinesDeps = Omit<PipelineDeps, "checkScripts" | "runJob"> & {
  readonly recentRuns: RecentRuns;
  readonly countTriggers: CountTriggers;
  readonly triggerDocument: DocumentForm;
  /** Asks the server's own Bash unless told otherwise. */
  readonly checkScripts?: CheckScripts | undefined;
};

export function makePipelines(given: PipelinesDeps) {
  const runJob = createRunJob(given.clock);
  const deps = { ...given, runJob, checkScripts: given.checkScripts ?? makeCheckScripts(given.clock) };
  const get = makeGetPipeline(deps);
  const completeShown = makeCompleteShown(deps);
  const listSummaries = makeListSummaries({ ...deps, completeShown });
  const update = makeUpdatePipeline(deps);
  const getNode = makeGetNode(deps);
  const inputSets = makeInputSets(deps);
  const getVersion = makeGetVersion({ ...deps, get });
  const verbs = {
    create: makeCreatePipeline(deps),
    get,
    update,
    remove: makeDeletePipeline(deps),
    listSummaries,
    getSummary: makeGetSummary({ list: listSummaries }),
    listVersions: makeListVersions({ ...deps, get }),
    getVersion,
    restoreVersion: makeRestoreVersion({ ...deps, getVersion, update }),
    validate: makeValidatePipeline(deps),
    validateSaved: makeValidateSaved({ get, runJob }),
    getNode,
    getNodes: makeGetNodes(deps),
    tagPipeline: makeTagPipeline({ ...deps, getNode, update }),
    getNodeByName: makeGetNodeByName(deps),
    listNodes: makeListNodes(deps),
    listNodesOfProjects: makeListNodesOfProjects(deps),
    listVariables: makeListVariables({ ...deps, completeShown }),
    adopt: makeAdoptPipeline(deps),
    adoptInputSet: makeAdoptInputSet(deps),
    adoptionReads: makeAdoptionReads(deps),
    ...makePrepareRun({
      ...{ ...deps, get, fill: createFillPipeline(runJob) },
      inputsOfSets: inputSets.inputsOfSets,
    }),
    listStageChoices: createListStageChoices({ get, runJob }),
    readInputTemplate: createReadTemplate(runJob),
  };
  const editing = editingRoutes({
    documentSchema: createDocumentSchemas(deps.triggerDocument),
    check: checkPipeline(deps),
    runtimeInputs: getRuntimeInputs({ get, runJob }),
    validateInputs: validateInputs({ ...deps, ...verbs, inputsOfSets: inputSets.inputsOfSets }),
  });
  const emptyScope: EmptyScope = async (tx, { accountId, projectId }) => {
    if (projectId === null) return [];
    const inputSets = await deleteInputSetsOf(tx, accountId, projectId);
    return [...(await deletePipelinesOf(tx, accountId, projectId)), ...inputSets];
  };
  return {
    ...verbs,
    mergeInputSets: inputSets.inputsOfSets,
    routes: [...pipelineRoutes(verbs), ...editing, ...pipelineV1Routes(verbs), ...inputSets.routes],
    emptyScope,
  };
}

/** Maps pipelines to their public shapes and back. */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { epochMs, stringMap, wireId } from "../platform/http/response/shapes.ts";
import type { PipelineVersion, SavedPipeline, SummarizedPipeline } from "./pipeline.ts";

export const NO_GIT = { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null };
export const VALID = { valid: true, invalidYaml: null };
export const MODULES = ["CD", "PMS"] as const;

export const gitShape = z.strictObject({
  objectId: z.null(),
  branch: z.null(),
  repoIdentifier: z.null(),
  rootFolder: z.null(),
  filePath: z.null(),
});
export const validityShape = z.strictObject({ valid: z.boolean(), invalidYaml: z.null() });
export const modulesShape = z.array(z.enum(MODULES));

/** There are no templates yet: with all of them resolved, the pipeline is as it was saved. */
export const pipelineResponse = (pipeline: SavedPipeline, withTemplates: boolean) => ({
  yamlPipeline: pipeline.yaml,
  resolvedTemplatesPipelineYaml: withTemplates ? pipeline.yaml : null,
  version: pipeline.version,
  gitDetails: NO_GIT,
  entityValidityDetails: VALID,
  modules: MODULES,
});

export const pipelineShape = z.strictObject({
  yamlPipeline: z.string(),
  resolvedTemplatesPipelineYaml: z.string().nullable(),
  version: z.int(),
  gitDetails: gitShape,
  entityValidityDetails: validityShape,
  modules: modulesShape,
});

export const savedResponse = (identifier: string) => ({ identifier, governanceMetadata: null });
export const savedShape = z.strictObject({ identifier: z.string(), governanceMetadata: z.null() });

export const summaryResponse = (pipeline: SummarizedPipeline) => {
  const [last] = pipeline.recentRuns;
  return {
    name: pipeline.name,
    identifier: pipeline.identifier,
    description: pipeline.description,
    tags: pipeline.tags,
    version: pipeline.version,
    numOfStages: pipeline.stageNames.length,
    numOfTriggers: pipeline.triggerCount,
    createdAt: pipeline.createdAt,
    lastUpdatedAt: pipeline.updatedAt,
    modules: MODULES,
    executionSummaryInfo: {
      // Counts by day are asked of the executions' own list.
      numOfErrors: [],
      deployments: [],
      lastExecutionTs: last?.startTs ?? null,
      lastExecutionStatus: last?.status ?? null,
      lastExecutionId: last?.planExecutionId ?? null,
    },
    filters: {},
    stageNames: pipeline.stageNames,
    recentExecutionsInfo: pipeline.recentRuns.map(({ triggerType, username, email, ...run }) => ({
      ...run,
      executorInfo: { triggerType, username, email },
    })),
    storeType: "INLINE",
    gitDetails: NO_GIT,
    entityValidityDetails: VALID,
  };
};

export const summaryShape = z.strictObject({
  name: z.string(),
  identifier: z.string(),
  description: z.string(),
  tags: stringMap,
  version: z.int(),
  numOfStages: z.int(),
  numOfTriggers: z.int(),
  createdAt: epochMs,
  lastUpdatedAt: epochMs,
  modules: modulesShape,
  executionSummaryInfo: z.strictObject({
    numOfErrors: z.array(z.int()),
    deployments: z.array(z.int()),
    lastExecutionTs: epochMs.nullable(),
    lastExecutionStatus: z.string().nullable(),
    lastExecutionId: wireId.nullable(),
  }),
  filters: z.strictObject({}),
  stageNames: z.array(z.string()),
  recentExecutionsInfo: z.array(
    z.strictObject({
      planExecutionId: wireId,
      status: z.string(),
      startTs: epochMs.nullable(),
      endTs: epochMs.nullable(),
      runSequence: z.int(),
      executorInfo: z.strictObject({
        triggerType: z.string(),
        username: z.string(),
        email: z.string().nullable(),
      }),
    }),
  ),
  storeType: z.literal("INLINE"),
  gitDetails: gitShape,
  entityValidityDetails: validityShape,
});

const later = z.never().optional();

/** What a list may be narrowed by. */
export const summaryFilter = z.strictObject({
  filterType: z.literal("PipelineSetup").nullish(),
  name: z.string().max(128).nullish(),
  description: z.string().max(4_096).nullish(),
  pipelineTags: z
    .array(z.strictObject({ key: z.string().min(1).max(128), value: z.string().max(256).nullish() }))
    .max(100)
    .nullish(),
  pipelineIdentifiers: z.array(z.string().max(128)).max(1_000).nullish(),
  moduleProperties: z.strictObject({}).nullish(),
  repoName: later,
  repoBranch: later,
});

export const versionResponse = (version: PipelineVersion) => ({
  version: version.version,
  createdAt: version.createdAt,
  createdBy: version.createdBy && { id: toWire(version.createdBy) },
});
const versionFields = {
  version: z.int(),
  createdAt: epochMs,
  createdBy: z.strictObject({ id: wireId }).nullable(),
};
export const versionShape = z.strictObject(versionFields);
export const versionYamlShape = z.strictObject({ ...versionFields, yamlPipeline: z.string() });

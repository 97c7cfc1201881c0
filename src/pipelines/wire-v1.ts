/** Pipelines in the words of the v1 family. */
import { z } from "zod";
import { epochMs, stringMap } from "../platform/http/response/shapes.ts";
import { MODULES } from "./wire.ts";
import type { InProject, SavedPipeline, SummarizedPipeline } from "./pipeline.ts";

/** Pipelines are kept in the database alone. */
const gitDetails = z
  .object({ store_type: z.literal("INLINE", { error: "takes INLINE: pipelines are not kept in Git" }).nullish() })
  .nullish();

/** `pipeline_yaml` is what is saved; the fields beside it repeat what it says, and have to agree. */
export const v1Body = z.strictObject({
  pipeline_yaml: z.string(),
  identifier: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  tags: stringMap.nullish(),
  git_details: gitDetails,
});

const modulesShape = z.array(z.enum(MODULES));

const runShape = z.strictObject({
  execution_id: z.string(),
  status: z.string(),
  run_number: z.int(),
  started: epochMs.nullable(),
  ended: epochMs.nullable(),
  trigger_type: z.string(),
  executor: z.strictObject({ username: z.string(), email: z.string().nullable() }),
});

export const v1SummaryShape = z.strictObject({
  identifier: z.string(),
  name: z.string(),
  description: z.string(),
  tags: stringMap,
  created: epochMs,
  updated: epochMs,
  modules: modulesShape,
  execution_summary: z.strictObject({
    last_execution_id: z.string().nullable(),
    last_execution_status: z.string().nullable(),
    last_execution_ts: epochMs.nullable(),
  }),
  recent_execution_info: z.array(runShape),
  store_type: z.literal("INLINE"),
  connector_ref: z.null(),
  valid: z.literal(true),
  git_details: z.null(),
});

export function v1Summary(pipeline: SummarizedPipeline): z.output<typeof v1SummaryShape> {
  const [last] = pipeline.recentRuns;
  return {
    identifier: pipeline.identifier,
    name: pipeline.name,
    description: pipeline.description,
    tags: { ...pipeline.tags },
    created: pipeline.createdAt,
    updated: pipeline.updatedAt,
    modules: [...MODULES],
    execution_summary: {
      last_execution_id: last?.planExecutionId ?? null,
      last_execution_status: last?.status ?? null,
      last_execution_ts: last?.startTs ?? null,
    },
    recent_execution_info: pipeline.recentRuns.map((run) => ({
      execution_id: run.planExecutionId,
      status: run.status,
      run_number: run.runSequence,
      started: run.startTs,
      ended: run.endTs,
      trigger_type: run.triggerType,
      executor: { username: run.username, email: run.email },
    })),
    store_type: "INLINE",
    connector_ref: null,
    valid: true,
    git_details: null,
  };
}

export const v1PipelineShape = z.strictObject({
  pipeline_yaml: z.string(),
  template_applied_pipeline_yaml: z.string().nullable(),
  identifier: z.string(),
  name: z.string(),
  org: z.string(),
  project: z.string(),
  description: z.string(),
  tags: stringMap,
  modules: modulesShape,
  git_details: z.null(),
  valid: z.literal(true),
  yaml_error_wrapper: z.null(),
  created: epochMs,
  updated: epochMs,
});

/** There are no templates: with all of them applied, the pipeline is as it was saved. */
export const v1Pipeline = (
  pipeline: SavedPipeline,
  scope: InProject,
  withTemplates: boolean,
): z.output<typeof v1PipelineShape> => ({
  pipeline_yaml: pipeline.yaml,
  template_applied_pipeline_yaml: withTemplates ? pipeline.yaml : null,
  identifier: pipeline.identifier,
  name: pipeline.name,
  org: scope.orgIdentifier,
  project: scope.projectIdentifier,
  description: pipeline.description,
  tags: { ...pipeline.tags },
  modules: [...MODULES],
  git_details: null,
  valid: true,
  yaml_error_wrapper: null,
  created: pipeline.createdAt,
  updated: pipeline.updatedAt,
});

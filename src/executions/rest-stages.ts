/** Routes that run single stages of a pipeline. */
import { z } from "zod";
import type { ListStageChoices } from "../pipelines/index.ts";
import { ok } from "../platform/http/response/answers.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import { envelopeOf } from "../platform/http/request/bodies.ts";
import { projectQuery } from "../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Call, type Route } from "../platform/http/routes.ts";
import type { RerunPipeline } from "./rerun.ts";
import { onceOf } from "./run-request.ts";
import { planExecutionShape } from "./shapes.ts";
import type { RunPipeline } from "./start.ts";
import type { Started } from "./started.ts";
import { planExecution } from "./wire/rest.ts";

export type StageVerbs = {
  readonly run: RunPipeline;
  readonly rerun: RerunPipeline;
  readonly listStageChoices: ListStageChoices;
};

const EXECUTE = "/pipeline/api/pipeline/execute";

const stagesBody = z.strictObject({
  runtimeInputYaml: z.string().nullish().describe("Runtime inputs as YAML; those of other stages are not read."),
  stageIdentifiers: z.array(z.string().max(128)).min(1).max(1_000),
  expressionValues: z
    .record(z.string().max(1_024), z.string())
    .nullish()
    .describe("Values for what these stages read of the others, by expression."),
});

const bodyDoc = { schema: stagesBody, example: { stageIdentifiers: ["build"], expressionValues: {} } };

function chosenIn(call: Call) {
  const { runtimeInputYaml: text, stageIdentifiers: stages, expressionValues } = envelopeOf(call, stagesBody);
  const input = text == null || text.trim() === "" ? undefined : { text, format: "yaml" as const };
  return { input, selection: { stages, expressionValues: expressionValues ?? {} } };
}

type ScopedCall = Call<z.output<typeof projectQuery>>;

function answer(call: ScopedCall, pipelineIdentifier: string, started: Started) {
  const { orgIdentifier, projectIdentifier } = call.query;
  const scope = { orgIdentifier, projectIdentifier };
  return ok(call, planExecution({ ...started, ...scope, accountId: call.accountId, pipelineIdentifier }));
}

const DESCRIPTION =
  "For pipelines with allowStageExecutions: true. What the stages read of others is given in expressionValues, or refused.";

const choiceShape = z.strictObject({
  stageIdentifier: z.string(),
  stageName: z.string(),
  stagesRequired: z
    .array(z.string())
    .describe("Other stages that it reads: choose them, too, or give expressionValues."),
});

export const stageRoutes = (verbs: StageVerbs): readonly Route[] => [
  route({
    method: "POST",
    path: `${EXECUTE}/:identifier/stages`,
    operation: "execution.start-stages",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery,
    doc: {
      summary: "Run single stages of a pipeline",
      description: DESCRIPTION,
      idempotencyKey: true,
      params: { identifier: "staged" },
      body: bodyDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const { identifier = "" } = call.params;
      const { input, selection } = chosenIn(call);
      const options = { selection, idempotency: onceOf(call, "execution.start-stages") };
      return answer(call, identifier, await verbs.run(call.actor, call.query, identifier, input, options));
    },
  }),
  route({
    method: "POST",
    path: `${EXECUTE}/rerun/:originalExecutionId/:identifier/stages`,
    operation: "execution.rerun-stages",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery,
    doc: {
      summary: "Run single stages of a pipeline again",
      description: `${DESCRIPTION} Without inputs it has those of the earlier run.`,
      idempotencyKey: true,
      params: { identifier: "staged" },
      body: bodyDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const { originalExecutionId: executionId = "", identifier: pipelineIdentifier = "" } = call.params;
      const { input, selection } = chosenIn(call);
      const idempotency = onceOf(call, "execution.rerun-stages");
      const original = { executionId, pipelineIdentifier, selection, idempotency };
      return answer(call, pipelineIdentifier, await verbs.rerun(call.actor, call.query, original, input, []));
    },
  }),
  route({
    method: "GET",
    path: `${EXECUTE}/stagesExecutionList`,
    operation: "execution.stage-choices",
    access: { permission: "core_pipeline_view" },
    query: projectQuery.extend({ pipelineIdentifier: z.string({ error: "is required" }) }),
    doc: {
      summary: "List the stages of a pipeline that can be run by themselves",
      description: "None unless the pipeline has allowStageExecutions: true.",
      queryExample: { pipelineIdentifier: "staged" },
      answer: enveloped(z.array(choiceShape)),
    },
    handle: async (call) => {
      const choices = await verbs.listStageChoices(call.actor, call.query, call.query.pipelineIdentifier);
      return ok(
        call,
        choices.map(({ identifier, name, required }) => ({
          ...{ stageIdentifier: identifier, stageName: name, stagesRequired: required },
        })),
      );
    },
  }),
];

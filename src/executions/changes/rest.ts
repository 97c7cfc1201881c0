import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { enveloped, epochMs, wireId } from "../../platform/http/response/shapes.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { restStatus } from "../wire/status.ts";
import type { ComparedExecution, GetChanges } from "./changes.ts";

const comparedShape = z.strictObject({
  planExecutionId: wireId,
  runSequence: z.int(),
  status: z.string(),
  pipelineVersion: z.int(),
  startTs: epochMs.nullable(),
  endTs: epochMs.nullable(),
  stagesExecuted: z.array(z.string()).nullable().describe("Null for all stages."),
  commitId: z.string().nullable().describe("The commit that the trigger's payload names."),
  committedAt: epochMs.nullable(),
});

const changesShape = z.strictObject({
  execution: comparedShape,
  previous: comparedShape.nullable().describe("The last one before it that succeeded, among a thousand."),
  isPipelineChanged: z.boolean().describe("Whether the versions of the pipeline differ."),
  isCommitChanged: z.boolean().describe("Whether both name a commit, and the commits differ."),
  inputs: z.array(
    z.strictObject({
      path: z.string(),
      before: z.string().nullable().describe("Null if it was not given, and for a secret."),
      after: z.string().nullable(),
      isSecret: z.boolean(),
    }),
  ),
  hasMoreInputs: z.boolean().describe("Whether more than 200 inputs differ."),
});

const comparedToWire = (one: ComparedExecution) => ({
  planExecutionId: toWire(one.id),
  runSequence: one.runSequence,
  status: restStatus(one.status),
  pipelineVersion: one.pipelineVersion,
  startTs: one.startedAt,
  endTs: one.endedAt,
  stagesExecuted: one.selectedStages,
  commitId: one.commit?.id ?? null,
  committedAt: one.commit?.committedAt ?? null,
});

export const changesRoute = (changes: GetChanges): Route =>
  route({
    method: "GET",
    path: "/pipeline/api/pipelines/execution/:planExecutionId/changes",
    operation: "execution.changes",
    access: { permission: "core_pipeline_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "Compare an execution with the last one of its pipeline that succeeded before",
      answer: enveloped(changesShape),
    },
    handle: async (call) => {
      const found = await changes(call.actor, call.params["planExecutionId"] ?? "", call.query);
      const { execution, previous, inputs } = found;
      const [commit, before] = [execution.commit?.id, previous?.commit?.id];
      return ok(call, {
        execution: comparedToWire(execution),
        previous: previous ? comparedToWire(previous) : null,
        isPipelineChanged: previous !== undefined && previous.pipelineVersion !== execution.pipelineVersion,
        isCommitChanged: commit !== undefined && before !== undefined && commit !== before,
        inputs: inputs.changes,
        hasMoreInputs: inputs.hasMore,
      });
    },
  });

/** `POST /v1/orgs/{org}/projects/{project}/pipelines/{pipeline}/execute`: starting a pipeline in the v1 family. */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { json } from "../platform/http/response/answers.ts";
import { envelopeOf } from "../platform/http/request/bodies.ts";
import { maybeText } from "../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Route } from "../platform/http/routes.ts";
import { wireId } from "../platform/http/response/shapes.ts";
import { V1_BASES, v1Scope } from "../platform/http/response/v1.ts";
import { idempotencyOf } from "./idempotency.ts";
import type { RunPipeline } from "./start.ts";
import { planStatus } from "./wire/status.ts";

/** The runtime inputs as YAML text, in the form of the pipeline; they may be left out. */
const body = z.strictObject({ inputs_yaml: z.string().nullish() });

export const executeV1Routes = (run: RunPipeline): readonly Route[] =>
  V1_BASES.map(([base, suffix]) =>
    route({
      method: "POST",
      path: `${base}/orgs/:org/projects/:project/pipelines/:pipeline/execute`,
      operation: `execution-v1.start${suffix}`,
      maxBody: LARGE_BODY,
      access: { permission: "core_pipeline_execute" },
      account: "header",
      query: z.object({ module: maybeText("module") }),
      doc: {
        summary: "Run a pipeline",
        idempotencyKey: true,
        params: { org: "default", project: "shop", pipeline: "deploy" },
        body: { schema: body, required: false, example: {} },
        answer: z.strictObject({ execution_details: z.strictObject({ execution_id: wireId, status: z.string() }) }),
      },
      handle: async (call) => {
        const { inputs_yaml: text } = call.body.bytes.length === 0 ? {} : envelopeOf(call, body);
        const input = text ? ({ text, format: "yaml" } as const) : undefined;
        const { headers, params, body: sent } = call;
        const request = [params, sent.contentType, sent.bytes.toString("base64")];
        const idempotency = idempotencyOf(headers["idempotency-key"], "execution-v1.start", request);
        const options = { inputSets: [], idempotency };
        const started = await run(call.actor, v1Scope(call), params["pipeline"] ?? "", input, options);
        const status = planStatus(started.state.status);
        return json(200, { execution_details: { execution_id: toWire(started.id), status } });
      },
    }),
  );

/** Routes that start and stop executions. */
import { z } from "zod";
import type { NewId } from "../core/ids.ts";
import { toWire } from "../core/ids.ts";
import type { Clock } from "../core/clock.ts";
import { chosenSets, setsBody } from "../pipelines/index.ts";
import { json, ok } from "../platform/http/response/answers.ts";
import { envelopeOf, type EnvelopeCall } from "../platform/http/request/bodies.ts";
import { maybeProjectQuery, maybeTexts, projectQuery } from "../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Call, type Route } from "../platform/http/routes.ts";
import { enveloped, resourced } from "../platform/http/response/shapes.ts";
import type { Actor } from "../core/actor.ts";
import { type InterruptExecution, interruptOf } from "./interrupt.ts";
import type { GetExecution } from "./get.ts";
import { problem } from "./problems.ts";
import type { RerunPipeline } from "./rerun.ts";
import { inputOf, inputsDoc, onceOf } from "./run-request.ts";
import { interruptShape, olderInterruptShape, planExecutionShape } from "./shapes.ts";
import type { RunInput, RunPipeline } from "./start.ts";
import type { Started } from "./started.ts";
import { planExecution } from "./wire/rest.ts";

export type RunVerbs = {
  readonly run: RunPipeline;
  readonly rerun: RerunPipeline;
  readonly get: GetExecution;
  readonly interrupt: InterruptExecution;
  readonly clock: Clock;
  readonly newId: NewId;
};

const BASE = "/pipeline/api/pipeline/execute";

type ScopedCall = Call<z.output<typeof projectQuery>>;

function answer(call: ScopedCall, pipelineIdentifier: string, started: Started) {
  const { orgIdentifier, projectIdentifier } = call.query;
  const scope = { orgIdentifier, projectIdentifier };
  return ok(call, planExecution({ ...started, ...scope, accountId: call.accountId, pipelineIdentifier }));
}

/** Input sets beside the body: the parameter several times, or once with commas. */
const runQuery = projectQuery.extend({ inputSetIdentifiers: maybeTexts("inputSetIdentifiers") });

const setsIn = ({ inputSetIdentifiers = [] }: z.output<typeof runQuery>): readonly string[] =>
  inputSetIdentifiers.flatMap((text) => text.split(",")).filter((name) => name !== "");

type Chosen = { readonly input: RunInput | undefined; readonly inputSets: readonly string[] };

const chosenIn = (call: EnvelopeCall): Chosen => {
  const { references, last } = chosenSets(call);
  return { input: last, inputSets: references };
};

const setsDoc = {
  schema: setsBody,
  required: false,
  example: { inputSetReferences: ["basic"], withMergedPipelineYaml: true, stageIdentifiers: [] },
};

const runRoute = (verbs: RunVerbs, suffix: string, operation: string): Route =>
  route({
    method: "POST",
    path: `${BASE}/:identifier${suffix}`,
    operation,
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: runQuery,
    doc: {
      summary: "Run a pipeline",
      description:
        "The body has the pipeline's runtime inputs, and nothing else of it; they go over those of input sets.",
      idempotencyKey: true,
      params: { identifier: "deploy" },
      body: inputsDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const identifier = call.params["identifier"] ?? "";
      const inputSets = setsIn(call.query);
      const options = { inputSets, idempotency: onceOf(call, operation) };
      const started = await verbs.run(call.actor, call.query, identifier, inputOf(call.body), options);
      return answer(call, identifier, started);
    },
  });

const runWithSetsRoute = (verbs: RunVerbs): Route =>
  route({
    method: "POST",
    path: `${BASE}/:identifier/inputSetList`,
    operation: "execution.start-with-input-sets",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery,
    doc: {
      summary: "Run a pipeline with input sets",
      description: "Later sets win, and lastYamlToMerge goes over all of them.",
      idempotencyKey: true,
      params: { identifier: "greeting" },
      body: setsDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const identifier = call.params["identifier"] ?? "";
      const { input, inputSets } = chosenIn(call);
      const options = { inputSets, idempotency: onceOf(call, "execution.start-with-input-sets") };
      return answer(call, identifier, await verbs.run(call.actor, call.query, identifier, input, options));
    },
  });

const rerunRoute = (verbs: RunVerbs, suffix: string, operation: string): Route =>
  route({
    method: "POST",
    path: `${BASE}/rerun/:originalExecutionId/:identifier${suffix}`,
    operation,
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: runQuery,
    doc: {
      summary: "Run a pipeline again",
      description:
        "A fresh run of the newest version, with the inputs of the earlier run unless the body or input sets give others.",
      idempotencyKey: true,
      params: { identifier: "deploy" },
      body: inputsDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const { originalExecutionId: executionId = "", identifier: pipelineIdentifier = "" } = call.params;
      const original = { executionId, pipelineIdentifier, idempotency: onceOf(call, operation) };
      const [input, inputSets] = [inputOf(call.body), setsIn(call.query)];
      const started = await verbs.rerun(call.actor, call.query, original, input, inputSets);
      return answer(call, pipelineIdentifier, started);
    },
  });

const rerunWithSetsRoute = (verbs: RunVerbs): Route =>
  route({
    method: "POST",
    path: `${BASE}/rerun/:originalExecutionId/:identifier/inputSetList`,
    operation: "execution.rerun-with-input-sets",
    maxBody: LARGE_BODY,
    access: { permission: "core_pipeline_execute" },
    query: projectQuery,
    doc: {
      summary: "Run a pipeline again with input sets",
      description: "Without sets and lastYamlToMerge it has the inputs of the earlier run.",
      idempotencyKey: true,
      params: { identifier: "greeting" },
      body: setsDoc,
      answer: enveloped(planExecutionShape),
    },
    handle: async (call) => {
      const { originalExecutionId: executionId = "", identifier: pipelineIdentifier = "" } = call.params;
      const { input, inputSets } = chosenIn(call);
      const idempotency = onceOf(call, "execution.rerun-with-input-sets");
      const original = { executionId, pipelineIdentifier, idempotency };
      const started = await verbs.rerun(call.actor, call.query, original, input, inputSets);
      return answer(call, pipelineIdentifier, started);
    },
  });

const interruptQuery = maybeProjectQuery.extend({ interruptType: z.string({ error: "is required" }) });

/** One operation under three paths: for an execution, for a node, and for a node that waits for a decision. */
const interruptRoute = (verbs: RunVerbs, path: string, operation: string, summary: string): Route =>
  route({
    method: "PUT",
    path: `${BASE}${path}`,
    operation,
    access: { permission: "core_pipeline_abort" },
    query: interruptQuery,
    doc: {
      summary,
      queryExample: { interruptType: path.endsWith("/:nodeExecutionId") ? "MarkAsSuccess" : "AbortAll" },
      answer: enveloped(interruptShape),
    },
    handle: async (call) => {
      const { interruptType, ...scope } = call.query;
      const { planExecutionId = "", nodeExecutionId: nodeId } = call.params;
      const target = { executionId: planExecutionId, nodeId };
      const type = interruptOf(interruptType, target);
      await verbs.interrupt(call.actor, target, scope, type);
      return ok(call, { id: nodeId ?? planExecutionId, type, planExecutionId });
    },
  });

const olderInterrupt = z.strictObject({ executionInterruptType: z.string().max(50) });

/** The call of first-generation clients, who know the application instead of its project. */
const olderAbortRoute = (verbs: RunVerbs): Route =>
  route({
    method: "PUT",
    path: "/api/executions/:executionId",
    operation: "execution.abort-older",
    access: { permission: "core_pipeline_abort" },
    account: "accountId",
    errors: "resource",
    query: z.object({ appId: z.string().optional() }),
    doc: {
      summary: "Abort an execution, as first-generation clients do",
      body: { schema: olderInterrupt, example: { executionInterruptType: "ABORT_ALL" } },
      answer: resourced(olderInterruptShape),
    },
    handle: async (call) => {
      const { executionId = "" } = call.params;
      const { executionInterruptType: type } = envelopeOf(call, olderInterrupt);
      if (type !== "ABORT_ALL") throw problem("execution.interrupt_unsupported", [type, "ABORT_ALL"]);
      const execution = await verbs.get(call.actor, executionId);
      const appId = toWire(execution.applicationId);
      if (call.query.appId !== undefined && call.query.appId !== appId)
        throw problem("execution.not_found", [executionId]);
      await verbs.interrupt(call.actor, { executionId }, {}, "AbortAll");
      const resource = {
        uuid: toWire(verbs.newId()),
        appId,
        accountId: toWire(call.accountId),
        executionInterruptType: "ABORT_ALL",
        seized: true,
        environmentId: null,
        executionUuid: executionId,
        stateExecutionInstanceId: null,
        properties: null,
        createdBy: personOf(call.actor),
        createdAt: verbs.clock.now(),
      };
      return json(200, { metaData: {}, resource, responseMessages: [] });
    },
  });

const personOf = (actor: Actor) =>
  actor.kind === "user" || actor.kind === "service_account"
    ? { uuid: toWire(actor.id), name: actor.name, email: actor.email }
    : null;

export const runRoutes = (verbs: RunVerbs): readonly Route[] => [
  runRoute(verbs, "", "execution.start"),
  runRoute(verbs, "/v2", "execution.start-v2"),
  runWithSetsRoute(verbs),
  rerunRoute(verbs, "", "execution.rerun"),
  rerunRoute(verbs, "/v2", "execution.rerun-v2"),
  rerunWithSetsRoute(verbs),
  interruptRoute(verbs, "/interrupt/:planExecutionId", "execution.abort", "Interrupt an execution"),
  interruptRoute(verbs, "/interrupt/:planExecutionId/:nodeExecutionId", "execution.interrupt-node", "Interrupt a node"),
  interruptRoute(
    verbs,
    "/manualIntervention/interrupt/:planExecutionId/:nodeExecutionId",
    "execution.intervene",
    "Decide what follows for a node that waits",
  ),
  olderAbortRoute(verbs),
];

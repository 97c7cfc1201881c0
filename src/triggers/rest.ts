import { z } from "zod";
import type { Actor } from "../core/actor.ts";
import { ok } from "../platform/http/response/answers.ts";
import { formatOf, payloadOf, textOf } from "../platform/http/request/bodies.ts";
import { ifMatch } from "../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, springPageQuery } from "../platform/http/response/pages.ts";
import { maybeText, projectQuery, sortOrders } from "../platform/http/request/queries.ts";
import {
  LARGE_BODY,
  publicRoute,
  route,
  type Answer,
  type BodyDoc,
  type Call,
  type Route,
} from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import type { PipelineText } from "../pipelines/index.ts";
import type { DeleteTrigger, TriggerToChange, UpdateTrigger } from "./change.ts";
import type { CreateTrigger } from "./create.ts";
import type { GetDelivery } from "./webhooks/delivery.ts";
import { triggerBody } from "./document.ts";
import type { GetTrigger, GetTriggerDetails, ListTriggers } from "./read.ts";
import { MAX_PAYLOAD, type ReceiveWebhook } from "./webhooks/receive.ts";
import type { PipelineKey } from "./read-document.ts";
import type { ListedTrigger, Trigger } from "./trigger.ts";
import {
  deliveryResponse,
  deliveryShape,
  detailsShape,
  executionDetails,
  processingDetails,
  processingShape,
  triggerDetails,
  triggerDetailsShape,
  triggerResponse,
  triggerShape,
} from "./wire.ts";

type Operations = {
  readonly create: CreateTrigger;
  readonly update: UpdateTrigger;
  readonly remove: DeleteTrigger;
  readonly get: GetTrigger;
  readonly details: GetTriggerDetails;
  readonly list: ListTriggers;
  readonly receive: ReceiveWebhook;
  readonly delivery: GetDelivery;
  /** The plain token of the webhook, for actors who may run the pipeline. */
  readonly tokenOf: (actor: Actor, trigger: Trigger) => string | undefined;
  readonly publicUrl: () => string;
};

const ofPipeline = projectQuery.extend({ targetIdentifier: z.string({ error: "is required" }).min(1, "is required") });
const account = z.string({ error: "is required" });

const EXAMPLE_SCOPE = { orgIdentifier: "default", projectIdentifier: "shop" };
const EXAMPLE = {
  name: "Release",
  identifier: "release",
  ...EXAMPLE_SCOPE,
  pipelineIdentifier: "deploy",
  source: { type: "Webhook", spec: { type: "Custom", spec: { payloadConditions: [], headerConditions: [] } } },
};

const BASE = "/pipeline/api/triggers";
const edit = { permission: "core_pipeline_edit" };
const view = { permission: "core_pipeline_view" };
const queryExample = { targetIdentifier: "deploy" };
const body = (example: object): BodyDoc => ({ schema: triggerBody, root: "trigger", strict: true, example });

type TriggerCall = Call<z.output<typeof ofPipeline>>;
const within = ({ query: { orgIdentifier, projectIdentifier, targetIdentifier } }: TriggerCall): PipelineKey => ({
  orgIdentifier,
  projectIdentifier,
  pipelineIdentifier: targetIdentifier,
});
const triggerToChange = (call: TriggerCall): TriggerToChange => ({
  within: within(call),
  identifier: identifierOf(call),
  version: ifMatch(call),
});
const identifierOf = (call: TriggerCall): string => call.params["identifier"] ?? "";
const sent = (call: TriggerCall): PipelineText => ({ text: textOf(call.body) ?? "", format: formatOf(call.body) });

const writeRoutes = (operations: Operations): readonly Route[] => {
  const shown = (call: TriggerCall, trigger: Trigger): Answer =>
    ok(
      call,
      triggerResponse(trigger, operations.tokenOf(call.actor, trigger), operations.publicUrl()),
      trigger.version,
    );
  return [
    route({
      method: "POST",
      path: BASE,
      operation: "trigger.create",
      maxBody: LARGE_BODY,
      doc: {
        summary: "Create a custom webhook trigger of a pipeline",
        queryExample,
        body: body(EXAMPLE),
        answer: enveloped(triggerShape),
        etag: true,
      },
      access: edit,
      query: ofPipeline,
      handle: async (call) => shown(call, await operations.create(call.actor, within(call), sent(call))),
    }),
    route({
      method: "PUT",
      path: `${BASE}/:identifier`,
      operation: "trigger.update",
      maxBody: LARGE_BODY,
      doc: {
        summary: "Replace a trigger, whose webhook keeps its address",
        description: "From then on the trigger may use what the caller may.",
        params: { identifier: "hook" },
        queryExample,
        body: body({ ...EXAMPLE, identifier: "hook", name: "Hook" }),
        answer: enveloped(triggerShape),
        etag: true,
        ifMatch: true,
      },
      access: edit,
      query: ofPipeline,
      handle: async (call) => shown(call, await operations.update(call.actor, triggerToChange(call), sent(call))),
    }),
    route({
      method: "GET",
      path: `${BASE}/:identifier`,
      operation: "trigger.get",
      doc: {
        summary: "Read a trigger",
        params: { identifier: "hook" },
        queryExample,
        answer: enveloped(triggerShape),
        etag: true,
      },
      access: view,
      query: ofPipeline,
      handle: async (call) => shown(call, await operations.get(call.actor, within(call), identifierOf(call))),
    }),
    route({
      method: "DELETE",
      path: `${BASE}/:identifier`,
      operation: "trigger.delete",
      doc: {
        summary: "Delete a trigger",
        description: "Its webhook is 404 from then on; its executions stay, and those under way go on.",
        ifMatch: true,
        params: { identifier: "release" },
        queryExample,
        answer: enveloped(z.literal(true)),
      },
      access: edit,
      query: ofPipeline,
      handle: async (call) => {
        await operations.remove(call.actor, triggerToChange(call));
        return ok(call, true);
      },
    }),
  ];
};

/** Pages are shorter than elsewhere, because rows contain the whole document. */
const MAX_SIZE = 100;

const listQuery = ofPipeline
  .partial({ targetIdentifier: true })
  .extend(springPageQuery(25, MAX_SIZE).shape)
  .extend({
    searchTerm: maybeText("searchTerm"),
    sort: sortOrders(),
    filter: z.undefined({ error: "filter is not supported yet" }).optional(),
  });

const readRoutes = (operations: Operations): readonly Route[] => {
  const row = (actor: Actor, trigger: ListedTrigger) =>
    triggerDetails(trigger, operations.tokenOf(actor, trigger), operations.publicUrl());
  return [
    route({
      method: "GET",
      path: BASE,
      operation: "trigger.list",
      doc: {
        summary: "List the triggers of a project, by identifier or as sort says",
        description: "With `targetIdentifier` only those of that pipeline.",
        queryExample,
        answer: enveloped(ngPageShape(triggerDetailsShape)),
      },
      access: view,
      query: listQuery,
      handle: async (call) => {
        const { page, size, searchTerm, sort: order, targetIdentifier: pipelineIdentifier } = call.query;
        const window = { limit: size, offset: page * size, order };
        const { orgIdentifier, projectIdentifier } = call.query;
        const of = { orgIdentifier, projectIdentifier, pipelineIdentifier };
        const found = await operations.list(call.actor, { within: of, searchTerm }, window);
        return ok(call, await ngPage(found, (trigger) => row(call.actor, trigger)));
      },
    }),
    route({
      method: "GET",
      path: `${BASE}/:identifier/details`,
      operation: "trigger.details",
      doc: {
        summary: "Read a trigger and what became of its newest call",
        params: { identifier: "hook" },
        queryExample,
        answer: enveloped(triggerDetailsShape),
        etag: true,
      },
      access: view,
      query: ofPipeline,
      handle: async (call) => {
        const trigger = await operations.details(call.actor, within(call), identifierOf(call));
        return ok(call, row(call.actor, trigger), trigger.version);
      },
    }),
  ];
};

const BY_ITS_ID = "the event's id is random and known to its sender alone";

const namesQuery = z.object({
  accountIdentifier: maybeText("accountIdentifier"),
  routingId: maybeText("routingId"),
  orgIdentifier: maybeText("orgIdentifier"),
  projectIdentifier: maybeText("projectIdentifier"),
  pipelineIdentifier: maybeText("pipelineIdentifier"),
  triggerIdentifier: maybeText("triggerIdentifier"),
});

const webhookRoutes = (operations: Operations): readonly Route[] => [
  publicRoute({
    method: "POST",
    path: "/pipeline/api/webhook/custom/:token/v3",
    operation: "webhook.receive",
    doc: {
      summary: "Call a webhook",
      description: "200 means stored: the execution starts also when the server is killed right after it.",
      body: { schema: z.json(), strict: true, types: ["application/json"], example: { tag: "v1.2.3" } },
      answer: enveloped(deliveryShape),
    },
    access: { public: "the token in the address is the credential" },
    maxBody: MAX_PAYLOAD,
    query: namesQuery,
    handle: async (call) => {
      const event = { headers: call.headers, payload: payloadOf(call.body) };
      const delivery = await operations.receive(call.params["token"] ?? "", call.query, event);
      return ok(call, deliveryResponse(delivery, operations.publicUrl()));
    },
  }),
  publicRoute({
    method: "GET",
    path: "/pipeline/api/webhook/triggerExecutionDetails/:eventId",
    operation: "webhook.execution-details",
    doc: { summary: "What became of a webhook call, and its execution", answer: enveloped(detailsShape) },
    access: { public: BY_ITS_ID },
    query: z.object({ accountIdentifier: account }),
    handle: async (call) => {
      const { delivery, trigger, execution } = await operations.delivery(
        call.query.accountIdentifier,
        call.params["eventId"] ?? "",
      );
      return ok(call, {
        webhookProcessingDetails: processingDetails(delivery, trigger, execution),
        executionDetails: executionDetails(execution),
      });
    },
  }),
  publicRoute({
    method: "GET",
    path: "/pipeline/api/webhook/triggerProcessingDetails",
    operation: "webhook.processing-details",
    doc: { summary: "What became of a webhook call", answer: enveloped(processingShape) },
    access: { public: BY_ITS_ID },
    query: z.object({ accountIdentifier: account, eventId: z.string({ error: "is required" }) }),
    handle: async (call) => {
      const { delivery, trigger, execution } = await operations.delivery(
        call.query.accountIdentifier,
        call.query.eventId,
      );
      return ok(call, processingDetails(delivery, trigger, execution));
    },
  }),
];

export const triggerRoutes = (operations: Operations): readonly Route[] => [
  ...writeRoutes(operations),
  ...readRoutes(operations),
  ...webhookRoutes(operations),
];

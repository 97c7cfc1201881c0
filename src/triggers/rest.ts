import { z } from "zod";
import type { Actor } from "../core/actor.ts";
import { ok } from "../platform/http/answers.ts";
import { formatOf, payloadOf, textOf } from "../platform/http/bodies.ts";
import { maybeText, projectQuery } from "../platform/http/queries.ts";
import { LARGE_BODY, publicRoute, route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/shapes.ts";
import type { CreateTrigger, GetTrigger } from "./create.ts";
import type { GetDelivery } from "./delivery.ts";
import { triggerBody } from "./document.ts";
import { MAX_PAYLOAD, type ReceiveWebhook } from "./receive.ts";
import type { Trigger } from "./trigger.ts";
import {
  deliveryResponse,
  deliveryShape,
  detailsShape,
  executionDetails,
  processingDetails,
  processingShape,
  triggerResponse,
  triggerShape,
} from "./wire.ts";

type Verbs = {
  readonly create: CreateTrigger;
  readonly get: GetTrigger;
  readonly receive: ReceiveWebhook;
  readonly delivery: GetDelivery;
  /** The webhook's token in plain text, for those who may run the pipeline. */
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

const managementRoutes = (verbs: Verbs): readonly Route[] => [
  route({
    method: "POST",
    path: "/pipeline/api/triggers",
    operation: "trigger.create",
    maxBody: LARGE_BODY,
    doc: {
      summary: "Create a custom webhook trigger of a pipeline",
      queryExample: { targetIdentifier: "deploy" },
      body: { schema: triggerBody, root: "trigger", example: EXAMPLE },
      answer: enveloped(triggerShape),
    },
    access: { permission: "core_pipeline_edit" },
    query: ofPipeline,
    handle: async (call) => {
      const { targetIdentifier, ...scope } = call.query;
      const trigger = await verbs.create(
        call.actor,
        scope,
        targetIdentifier,
        textOf(call.body) ?? "",
        formatOf(call.body),
      );
      return ok(call, triggerResponse(trigger, verbs.tokenOf(call.actor, trigger), verbs.publicUrl()));
    },
  }),
  route({
    method: "GET",
    path: "/pipeline/api/triggers/:identifier",
    operation: "trigger.get",
    doc: {
      summary: "Read a trigger",
      params: { identifier: "hook" },
      queryExample: { targetIdentifier: "deploy" },
      answer: enveloped(triggerShape),
    },
    access: { permission: "core_pipeline_view" },
    query: ofPipeline,
    handle: async (call) => {
      const { targetIdentifier, ...scope } = call.query;
      const trigger = await verbs.get(call.actor, scope, targetIdentifier, call.params["identifier"] ?? "");
      return ok(call, triggerResponse(trigger, verbs.tokenOf(call.actor, trigger), verbs.publicUrl()));
    },
  }),
];

const BY_ITS_ID = "the event's id is random and known to its sender alone";

const namesQuery = z.object({
  accountIdentifier: maybeText("accountIdentifier"),
  routingId: maybeText("routingId"),
  orgIdentifier: maybeText("orgIdentifier"),
  projectIdentifier: maybeText("projectIdentifier"),
  pipelineIdentifier: maybeText("pipelineIdentifier"),
  triggerIdentifier: maybeText("triggerIdentifier"),
});

const webhookRoutes = (verbs: Verbs): readonly Route[] => [
  publicRoute({
    method: "POST",
    path: "/pipeline/api/webhook/custom/:token/v3",
    operation: "webhook.receive",
    doc: {
      summary: "Call a webhook",
      description: "200 means stored: the execution starts also when the server is killed right after it.",
      body: { schema: z.json(), types: ["application/json"], example: { tag: "v1.2.3" } },
      answer: enveloped(deliveryShape),
    },
    access: { public: "the token in the address is the credential" },
    maxBody: MAX_PAYLOAD,
    query: namesQuery,
    handle: async (call) => {
      const delivery = await verbs.receive(call.params["token"] ?? "", call.query, call.headers, payloadOf(call.body));
      return ok(call, deliveryResponse(delivery, verbs.publicUrl()));
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
      const { delivery, trigger, execution } = await verbs.delivery(
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
      const { delivery, trigger, execution } = await verbs.delivery(call.query.accountIdentifier, call.query.eventId);
      return ok(call, processingDetails(delivery, trigger, execution));
    },
  }),
];

export const triggerRoutes = (verbs: Verbs): readonly Route[] => [...managementRoutes(verbs), ...webhookRoutes(verbs)];

import { z } from "zod";
import type { Actor } from "../core/actor.ts";
import { ok } from "../platform/http/answers.ts";
import { decoded, formatOf, textOf } from "../platform/http/bodies.ts";
import { projectQuery } from "../platform/http/queries.ts";
import { publicRoute, route, type Route } from "../platform/http/routes.ts";
import type { CreateTrigger, GetTrigger } from "./create.ts";
import type { GetDelivery } from "./delivery.ts";
import { MAX_PAYLOAD, type ReceiveWebhook } from "./receive.ts";
import type { Trigger } from "./trigger.ts";
import { deliveryResponse, executionDetails, processingDetails, triggerResponse } from "./wire.ts";

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

const managementRoutes = (verbs: Verbs): readonly Route[] => [
  route({
    method: "POST",
    path: "/pipeline/api/triggers",
    operation: "trigger.create",
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

const webhookRoutes = (verbs: Verbs): readonly Route[] => [
  publicRoute({
    method: "POST",
    path: "/pipeline/api/webhook/custom/:token/v3",
    operation: "webhook.receive",
    access: { public: "the token in the address is the credential" },
    maxBody: MAX_PAYLOAD,
    query: z.object({}),
    handle: async (call) => {
      const delivery = await verbs.receive(call.params["token"] ?? "", call.headers, decoded(call.body.bytes));
      return ok(call, deliveryResponse(delivery, verbs.publicUrl()));
    },
  }),
  publicRoute({
    method: "GET",
    path: "/pipeline/api/webhook/triggerExecutionDetails/:eventId",
    operation: "webhook.execution-details",
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
    access: { public: BY_ITS_ID },
    query: z.object({ accountIdentifier: account, eventId: z.string({ error: "is required" }) }),
    handle: async (call) => {
      const { delivery, trigger, execution } = await verbs.delivery(call.query.accountIdentifier, call.query.eventId);
      return ok(call, processingDetails(delivery, trigger, execution));
    },
  }),
];

export const triggerRoutes = (verbs: Verbs): readonly Route[] => [...managementRoutes(verbs), ...webhookRoutes(verbs)];

/** Deliveries of a trigger over REST. */
import { z } from "zod";
import { fromWire } from "../../core/ids.ts";
import { projectQuery } from "../../platform/http/request/queries.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { pageSize } from "../../platform/http/response/pages.ts";
import { enveloped, wireId } from "../../platform/http/response/shapes.ts";
import { route, type Call, type Route } from "../../platform/http/routes.ts";
import { deliveryResponse, deliveryShape } from "../wire.ts";
import type { FollowDeliveries } from "./follow.ts";
import type { GetStoredDelivery, ListDeliveries, TriggerName } from "./read.ts";
import type { ReplayDelivery } from "./replay.ts";
import * as wire from "./wire.ts";

export type DeliveryOperations = {
  readonly listDeliveries: ListDeliveries;
  readonly storedDelivery: GetStoredDelivery;
  readonly replay: ReplayDelivery;
  readonly followDeliveries: FollowDeliveries;
  readonly publicUrl: () => string;
};

const PATH = "/pipeline/api/triggers/:identifier/deliveries";
const access = { permission: "core_pipeline_view" };
const query = projectQuery.extend({ targetIdentifier: z.string({ error: "is required" }).min(1, "is required") });
const queryExample = { targetIdentifier: "deploy" };
const params = { identifier: "hook" };

type DeliveryCall = Pick<Call<z.output<typeof query>>, "query" | "params">;

const triggerOf = ({
  query: { orgIdentifier, projectIdentifier, targetIdentifier },
  params,
}: DeliveryCall): TriggerName => ({
  within: { orgIdentifier, projectIdentifier, pipelineIdentifier: targetIdentifier },
  identifier: params["identifier"] ?? "",
});
const eventOf = ({ params }: DeliveryCall): string => params["eventId"] ?? "";

const pageToken = wireId
  .transform((token) => fromWire(token))
  .refine((id) => id !== undefined, { error: "takes the nextPageToken of an answer" })
  .optional();

export const deliveryRoutes = (operations: DeliveryOperations): readonly Route[] => [
  ...readRoutes(operations),
  route({
    method: "POST",
    path: `${PATH}/:eventId/replay`,
    operation: "delivery.replay",
    access: { permission: "core_pipeline_execute" },
    query,
    doc: {
      summary: "Send an event to its trigger again",
      description:
        "The event is stored anew, with the same headers and body, and processed as the trigger stands now. 402 if the " +
        "trigger is disabled, or if the body was not stored.",
      params,
      queryExample,
      answer: enveloped(deliveryShape),
    },
    handle: async (call) => {
      const delivery = await operations.replay(call.actor, triggerOf(call), eventOf(call));
      return ok(call, deliveryResponse(delivery, operations.publicUrl()));
    },
  }),
];

const readRoutes = (operations: DeliveryOperations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "delivery.list",
    access,
    query: query.extend({ size: pageSize(100).default(25), pageToken }),
    doc: {
      summary: "List the events of a trigger, newest first",
      params,
      queryExample,
      answer: enveloped(wire.deliveryPageShape),
    },
    handle: async (call) => {
      const { size, pageToken: before } = call.query;
      return ok(
        call,
        wire.deliveryPage(await operations.listDeliveries(call.actor, triggerOf(call), { before, size })),
      );
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/events`,
    operation: "delivery.follow",
    access,
    query,
    doc: {
      summary: "Follow the events of a trigger",
      description: "`snapshot` has the newest 50 as lists show them, `deliveries` those that came or changed since.",
      params,
      queryExample,
      answer: "text/event-stream",
    },
    handle: async (call) => ({
      kind: "events",
      run: await operations.followDeliveries(call.actor, triggerOf(call)),
    }),
  }),
  route({
    method: "GET",
    path: `${PATH}/:eventId`,
    operation: "delivery.get",
    access,
    query,
    doc: {
      summary: "Read an event of a trigger, with its headers and body",
      params,
      queryExample,
      answer: enveloped(wire.storedDeliveryShape),
    },
    handle: async (call) =>
      ok(call, wire.storedDelivery(await operations.storedDelivery(call.actor, triggerOf(call), eventOf(call)))),
  }),
];

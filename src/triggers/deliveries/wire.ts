/** Maps the deliveries of a trigger to their public shapes. */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { epochMs, stringMap, wireId } from "../../platform/http/response/shapes.ts";
import { DELIVERY_STATUSES } from "../trigger.ts";
import { messageOf } from "../wire.ts";
import type { DeliveryPage, ListedDelivery, StoredDelivery } from "./delivery.ts";

const eventId = z.string().regex(/^[0-9a-f]{24}$/);

export const deliveryRowShape = z.strictObject({
  eventId,
  eventCreatedAt: epochMs,
  processedAt: epochMs.nullable().describe("Null until the event is processed."),
  status: z.enum(DELIVERY_STATUSES).nullable().describe("Null until the event is processed."),
  message: z.string().describe("The reason, for people."),
  planExecutionId: wireId.nullable(),
  payloadBytes: z.int(),
  canReplay: z.boolean().describe("Whether headers and body were stored: not of disabled and deleted triggers."),
  replayOf: eventId.nullable().describe("The event that this one repeats; it may have been deleted since."),
});

export const deliveryRow = (delivery: ListedDelivery): z.output<typeof deliveryRowShape> => ({
  eventId: delivery.correlationId,
  eventCreatedAt: delivery.receivedAt,
  processedAt: delivery.processedAt,
  status: delivery.status,
  message: messageOf(delivery),
  planExecutionId: delivery.executionId === null ? null : toWire(delivery.executionId),
  payloadBytes: delivery.payloadBytes,
  canReplay: delivery.payloadBytes > 0,
  replayOf: delivery.replayOf,
});

export const deliveryPageShape = z.strictObject({
  content: z.array(deliveryRowShape),
  nextPageToken: wireId.nullable().describe("For the next page, as pageToken; null on the last one."),
});

export const deliveryPage = ({ items, next }: DeliveryPage) => ({
  content: items.map(deliveryRow),
  nextPageToken: next === undefined ? null : toWire(next),
});

export const storedDeliveryShape = deliveryRowShape.extend({
  headers: stringMap.describe("Names in lower case. Values of headers whose names speak of secrets are masked."),
  payload: z.string().describe("The first 65,536 characters of the body."),
  isPayloadComplete: z.boolean(),
});

const MASK = "********";
const SECRET_HEADER = /auth|token|secret|signature|key|password|cookie|credential|session/;

export const storedDelivery = (delivery: StoredDelivery) => ({
  ...deliveryRow(delivery),
  headers: Object.fromEntries(
    Object.entries(delivery.headers)
      // Each header is stored in title case, too.
      .filter(([name]) => name === name.toLowerCase())
      .map(([name, value]) => [name, SECRET_HEADER.test(name) ? MASK : value]),
  ),
  payload: delivery.payload,
  isPayloadComplete: delivery.isPayloadComplete,
});

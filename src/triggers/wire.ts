/** Maps triggers and deliveries to their public shapes. */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { executionSummary, type ExecutionSummary } from "../executions/index.ts";
import { epochMs, stringMap, wireId } from "../platform/http/response/shapes.ts";
import type { Delivery, DeliveryState, ListedTrigger, Trigger, TriggerNames } from "./trigger.ts";

const API = "/gateway/pipeline/api/webhook";

const scopeQuery = (trigger: Trigger): string =>
  new URLSearchParams({
    accountIdentifier: toWire(trigger.accountId),
    orgIdentifier: trigger.orgIdentifier,
    projectIdentifier: trigger.projectIdentifier,
    pipelineIdentifier: trigger.pipelineIdentifier,
    triggerIdentifier: trigger.identifier,
  }).toString();

/** Null without the token, which only actors who may run the pipeline get. */
export const webhookUrl = (trigger: Trigger, token: string | undefined, publicUrl: string): string | null =>
  token === undefined ? null : `${publicUrl}${API}/custom/${token}/v3?${scopeQuery(trigger)}`;

/** `webhookUrl` is null for actors who may not run the pipeline. */
export const triggerResponse = (trigger: Trigger, token: string | undefined, publicUrl: string) => ({
  name: trigger.name,
  identifier: trigger.identifier,
  description: trigger.description,
  type: "Webhook",
  accountIdentifier: toWire(trigger.accountId),
  orgIdentifier: trigger.orgIdentifier,
  projectIdentifier: trigger.projectIdentifier,
  targetIdentifier: trigger.pipelineIdentifier,
  yaml: trigger.yaml,
  version: trigger.version,
  enabled: trigger.enabled,
  webhookUrl: webhookUrl(trigger, token, publicUrl),
  errors: {},
  errorResponse: false,
});

export const triggerShape = z.strictObject({
  name: z.string(),
  identifier: z.string(),
  description: z.string(),
  type: z.literal("Webhook"),
  accountIdentifier: wireId,
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
  targetIdentifier: z.string(),
  yaml: z.string(),
  version: z.int(),
  enabled: z.boolean(),
  webhookUrl: z.string().nullable(),
  errors: z.strictObject({}),
  errorResponse: z.literal(false),
});

const NO_STATUS = { pollingSubscriptionStatus: null, validationStatus: null, webhookAutoRegistrationStatus: null };

function lastExecution({ last }: ListedTrigger) {
  if (!last) return null;
  return {
    lastExecutionTime: last.receivedAt,
    lastExecutionStatus: last.status,
    lastExecutionSuccessful: last.status === "TARGET_EXECUTION_REQUESTED",
    planExecutionId: last.executionId === null ? null : toWire(last.executionId),
    message: messageOf(last),
  };
}

/** A row of a list. Fields of unsupported features (polling, registration, counts by day) are null or empty. */
export const triggerDetails = (trigger: ListedTrigger, token: string | undefined, publicUrl: string) => ({
  ...triggerResponse(trigger, token, publicUrl),
  tags: trigger.tags,
  triggerStatus: NO_STATUS,
  lastTriggerExecutionDetails: lastExecution(trigger),
  webhookDetails: null,
  buildDetails: null,
  executions: [],
  registrationStatus: null,
});

export const triggerDetailsShape = triggerShape.extend({
  tags: stringMap,
  triggerStatus: z.strictObject({
    pollingSubscriptionStatus: z.null(),
    validationStatus: z.null(),
    webhookAutoRegistrationStatus: z.null(),
  }),
  lastTriggerExecutionDetails: z
    .strictObject({
      lastExecutionTime: epochMs,
      lastExecutionStatus: z.string().nullable().describe("Null until the event is processed."),
      lastExecutionSuccessful: z.boolean(),
      planExecutionId: wireId.nullable(),
      message: z.string(),
    })
    .nullable()
    .describe("The newest call of the webhook; null when there was none."),
  webhookDetails: z.null(),
  buildDetails: z.null(),
  executions: z.array(z.int()),
  registrationStatus: z.null(),
});

/** Deliveries have no page in a user interface, so both of their URLs are null. */
export const deliveryResponse = (delivery: Delivery, publicUrl: string) => ({
  eventCorrelationId: delivery.correlationId,
  apiUrl: `${publicUrl}${API}/triggerExecutionDetails/${delivery.correlationId}?accountIdentifier=${toWire(delivery.accountId)}`,
  uiUrl: null,
  uiSetupUrl: null,
});

export const deliveryShape = z.strictObject({
  eventCorrelationId: z.string().regex(/^[0-9a-f]{24}$/),
  apiUrl: z.string(),
  uiUrl: z.null(),
  uiSetupUrl: z.null(),
});

export function messageOf({ status, message }: Pick<DeliveryState, "status" | "message">): string {
  return status === null ? "The event is stored and waits to be processed" : message;
}

export const processingDetails = (
  delivery: Delivery & DeliveryState,
  trigger: TriggerNames,
  execution: ExecutionSummary | undefined,
) => ({
  eventFound: true,
  eventId: delivery.correlationId,
  accountIdentifier: toWire(delivery.accountId),
  orgIdentifier: trigger.orgIdentifier,
  projectIdentifier: trigger.projectIdentifier,
  triggerIdentifier: trigger.identifier,
  pipelineIdentifier: trigger.pipelineIdentifier,
  pipelineExecutionId: execution ? toWire(execution.id) : null,
  exceptionOccured: delivery.status !== null && delivery.status !== "TARGET_EXECUTION_REQUESTED",
  status: delivery.status,
  message: messageOf(delivery),
  payload: delivery.payload,
  eventCreatedAt: delivery.receivedAt,
  runtimeInput: null,
});

export const executionDetails = (execution: ExecutionSummary | undefined) =>
  execution ? { pipelineExecutionSummary: executionSummary(execution) } : null;

export const processingShape = z.strictObject({
  eventFound: z.boolean(),
  eventId: z.string(),
  accountIdentifier: wireId,
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
  triggerIdentifier: z.string(),
  pipelineIdentifier: z.string(),
  pipelineExecutionId: wireId.nullable(),
  exceptionOccured: z.boolean(),
  status: z.string().nullable().describe("Null until the event is processed."),
  message: z.string(),
  payload: z.string(),
  eventCreatedAt: epochMs,
  runtimeInput: z.null(),
});

export const detailsShape = z.strictObject({
  webhookProcessingDetails: processingShape,
  executionDetails: z.strictObject({ pipelineExecutionSummary: z.looseObject({ planExecutionId: wireId }) }).nullable(),
});

/** Triggers and deliveries in the shapes of reference section 6. */
import { toWire } from "../core/ids.ts";
import { executionSummary, type ExecutionDetail } from "../executions/index.ts";
import type { Delivery, DeliveryState, Trigger } from "./trigger.ts";

const API = "/gateway/pipeline/api/webhook";

const scopeQuery = (trigger: Trigger): string =>
  new URLSearchParams({
    accountIdentifier: toWire(trigger.accountId),
    orgIdentifier: trigger.orgIdentifier,
    projectIdentifier: trigger.projectIdentifier,
    pipelineIdentifier: trigger.pipelineIdentifier,
    triggerIdentifier: trigger.identifier,
  }).toString();

/** `webhookUrl` is null for those who may not run the pipeline. */
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
  webhookUrl: token === undefined ? null : `${publicUrl}${API}/custom/${token}/v3?${scopeQuery(trigger)}`,
  errors: {},
  errorResponse: false,
});

/** There is no page for a delivery yet, so the two addresses of one are null. */
export const deliveryResponse = (delivery: Delivery, publicUrl: string) => ({
  eventCorrelationId: delivery.correlationId,
  apiUrl: `${publicUrl}${API}/triggerExecutionDetails/${delivery.correlationId}?accountIdentifier=${toWire(delivery.accountId)}`,
  uiUrl: null,
  uiSetupUrl: null,
});

export const processingDetails = (
  delivery: Delivery & DeliveryState,
  trigger: Trigger,
  execution: ExecutionDetail | undefined,
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
  message: delivery.status === null ? "The event is stored and waits to be processed" : delivery.message,
  payload: delivery.payload,
  eventCreatedAt: delivery.receivedAt,
  runtimeInput: null,
});

export const executionDetails = (execution: ExecutionDetail | undefined) =>
  execution ? { pipelineExecutionSummary: executionSummary(execution) } : null;

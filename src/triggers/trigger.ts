import type { Uuid } from "../core/ids.ts";
import type { Author } from "../identity/index.ts";
import type { Principal } from "../pipelines/index.ts";

/** Starts a pipeline when its webhook is called. */
export type Trigger = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly projectId: Uuid;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
  readonly pipelineId: Uuid;
  readonly pipelineIdentifier: string;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  readonly yaml: string;
  readonly tokenSealed: Buffer;
  /** The user who saved it last, or adopted it since; null if unknown. */
  readonly author: Author | null;
  /** The service account that its executions act for instead of the author. */
  readonly runAs: Uuid | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** The principal that executions of a trigger act for. */
export const ownerOf = ({ id, identifier, version, author, runAs }: Trigger): Principal => ({
  author: runAs === null ? author : { kind: "service_account", id: runAs },
  authored: { type: "trigger", id, identifier, version },
});

/** The trigger for the audit trail. */
export const shownTrigger = ({
  version,
  name,
  description,
  tags,
  enabled,
  yaml,
}: Pick<Trigger, "version" | "name" | "description" | "tags" | "enabled" | "yaml">) => ({
  version,
  name,
  description,
  tags,
  enabled,
  yaml,
});

/** The identifiers of a trigger, also of a deleted one. */
export type TriggerNames = Pick<Trigger, "orgIdentifier" | "projectIdentifier" | "pipelineIdentifier" | "identifier">;

/** A trigger in a list, with its last delivery. */
export type ListedTrigger = Trigger & {
  readonly last: (DeliveryState & Pick<Delivery, "receivedAt">) | null;
};

/** A call of a webhook. It is stored, then answered, then processed. */
export type Delivery = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly correlationId: string;
  readonly triggerId: Uuid;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the call, checked to be JSON. */
  readonly payload: string;
  readonly receivedAt: number;
  /** The correlation id of the delivery that it repeats. */
  readonly replayOf?: string;
};

/** The outcome of a delivery. `status` is null while it is pending. */
export type DeliveryState = {
  readonly status: DeliveryStatus | null;
  readonly message: string;
  readonly executionId: Uuid | null;
};

export const DELIVERY_STATUSES = [
  "TARGET_EXECUTION_REQUESTED",
  "TRIGGER_DISABLED",
  "TRIGGER_DELETED",
  "INVALID_RUNTIME_INPUT_YAML",
  "EXCEPTION_WHILE_PROCESSING",
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

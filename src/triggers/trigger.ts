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
  /** Who saved it last, or adopted it since; null where that is unknown. */
  readonly author: Author | null;
  /** The service account that its executions act for instead of the author. */
  readonly runAs: Uuid | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Whom the executions of a trigger act for. */
export const ownerOf = ({ id, identifier, version, author, runAs }: Trigger): Principal => ({
  author: runAs === null ? author : { kind: "service_account", id: runAs },
  authored: { type: "trigger", id, identifier, version },
});

/** For the audit trail. */
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

/** How a trigger is called, also when it is gone. */
export type TriggerNames = Pick<Trigger, "orgIdentifier" | "projectIdentifier" | "pipelineIdentifier" | "identifier">;

/** A trigger as lists show it: with what was delivered last, if ever. */
export type ListedTrigger = Trigger & {
  readonly last: (DeliveryState & Pick<Delivery, "receivedAt">) | null;
};

/** A call of a webhook: stored first, then answered, then processed. */
export type Delivery = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly correlationId: string;
  readonly triggerId: Uuid;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it was sent; it has been read as JSON once. */
  readonly payload: string;
  readonly receivedAt: number;
};

/** What became of a delivery. `status` is null while it waits. */
export type DeliveryState = {
  readonly status: DeliveryStatus | null;
  readonly message: string;
  readonly executionId: Uuid | null;
};

export type DeliveryStatus =
  | "TARGET_EXECUTION_REQUESTED"
  | "TRIGGER_DISABLED"
  | "TRIGGER_DELETED"
  | "INVALID_RUNTIME_INPUT_YAML"
  | "EXCEPTION_WHILE_PROCESSING";

import type { Uuid } from "../core/ids.ts";
import type { State } from "../engine/index.ts";
import type { RerunInfo, TriggeredBy, TriggerType } from "./execution.ts";

/** The execution that a new one retries, and the first of that row. */
export type RetryOf = { readonly parentId: Uuid; readonly rootId: Uuid };

/** An execution that has just begun, as the request that started it is answered. */
export type Started = {
  readonly id: Uuid;
  readonly runSequence: number;
  readonly state: Pick<State, "status" | "startedAt" | "endedAt">;
  readonly createdAt: number;
  readonly version: number;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  readonly rerunInfo: RerunInfo | null;
  readonly retryOf?: RetryOf | undefined;
};

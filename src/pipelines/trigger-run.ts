import type { Grants } from "../core/grants.ts";
import type { Uuid } from "../core/ids.ts";
import type { PipelineText } from "./text.ts";

/** A trigger as far as it says what its runs use. `authority`: what it may use. */
export type TriggerRun = {
  readonly identifier: string;
  readonly inputSetRefs: readonly string[];
  readonly inputs: PipelineText | undefined;
  readonly authority: Grants;
};

export type TriggersOf = (accountId: Uuid, pipelineId: Uuid) => Promise<readonly TriggerRun[]>;

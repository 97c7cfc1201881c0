/** A trigger as an actor, which may only run its own pipeline. */
import type { Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Trigger } from "./trigger.ts";

const RUN: readonly Permission[] = ["core_pipeline_view", "core_pipeline_execute"];
type TriggerKey = Pick<
  Trigger,
  "accountId" | "id" | "identifier" | "orgIdentifier" | "projectIdentifier" | "pipelineIdentifier"
>;

/** The principals of its executions decide what these may use: its owner, and the authors of what it runs. */
export function actorOf(trigger: TriggerKey): Actor {
  const { accountId, id, identifier: name, orgIdentifier, projectIdentifier, pipelineIdentifier } = trigger;
  const scope = { orgIdentifier, projectIdentifier };
  const own = new Map([["PIPELINE", new Set([pipelineIdentifier])]]);
  return {
    ...{ kind: "trigger", accountId, id, name },
    grants: [
      { scope, children: false, permissions: new Set<string>(RUN), resources: own },
      { scope, children: false, permissions: new Set(["core_inputset_view"]), resources: "all" },
    ],
  };
}

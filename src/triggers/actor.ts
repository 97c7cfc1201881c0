/** A trigger as somebody who acts: it runs its own pipeline with what that may name, and does nothing else. */
import type { Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Grants } from "../core/grants.ts";
import type { Trigger } from "./trigger.ts";

const RUN: readonly Permission[] = ["core_pipeline_view", "core_pipeline_execute"];
type Of = Pick<
  Trigger,
  "accountId" | "id" | "identifier" | "orgIdentifier" | "projectIdentifier" | "pipelineIdentifier" | "authority"
>;

/**
 * Nobody has assigned it anything: it uses what whoever saved it could use, whatever the payload chooses and whatever
 * its pipeline and its input sets have come to name since. Those who change these are asked, too.
 */
export function actorOf(trigger: Of): Actor {
  const { accountId, id, identifier: name, orgIdentifier, projectIdentifier, pipelineIdentifier } = trigger;
  const scope = { orgIdentifier, projectIdentifier };
  const own = new Map([["PIPELINE", new Set([pipelineIdentifier])]]);
  const run: Grants = [
    { scope, children: false, permissions: new Set<string>(RUN), resources: own },
    { scope, children: false, permissions: new Set(["core_inputset_view"]), resources: "all" },
  ];
  return { kind: "trigger", accountId, id, name, grants: [...run, ...trigger.authority] };
}

/** A trigger as somebody who acts: it runs its own pipeline with what that may name, and does nothing else. */
import type { Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Grant } from "../core/grants.ts";
import type { Trigger } from "./trigger.ts";

const RUN: readonly Permission[] = ["core_pipeline_view", "core_pipeline_execute"];
/** What a pipeline names: in its project, its organization and the account. */
const USE: readonly Permission[] = [
  ...(["core_secret_view", "core_secret_access"] as const),
  ...(["core_connector_view", "core_connector_access"] as const),
  ...(["core_environment_view", "core_environment_access"] as const),
  ...(["core_service_view", "core_service_access"] as const),
];

type Of = Pick<
  Trigger,
  "accountId" | "id" | "identifier" | "orgIdentifier" | "projectIdentifier" | "pipelineIdentifier"
>;

/**
 * Nobody has assigned it anything. Whoever saved the trigger, its pipeline and its input sets was asked each time whether they
 * may use what those name; what the payload chooses among stays within the project and what lies above it.
 */
export function actorOf(trigger: Of): Actor {
  const { accountId, id, identifier: name, orgIdentifier, projectIdentifier, pipelineIdentifier } = trigger;
  const project = { orgIdentifier, projectIdentifier };
  const own = new Map([["PIPELINE", new Set([pipelineIdentifier])]]);
  const grant = (scope: Grant["scope"], permissions: readonly Permission[]): Grant => ({
    ...{ scope, children: false },
    ...{ permissions: new Set(permissions), resources: "all" },
  });
  const grants = [
    { ...grant(project, RUN), resources: own },
    grant(project, ["core_inputset_view"]),
    ...[project, { orgIdentifier }, {}].map((scope) => grant(scope, USE)),
  ];
  return { kind: "trigger", accountId, id, name, grants };
}

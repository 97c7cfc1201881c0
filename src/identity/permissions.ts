/** Permission identifiers (reference section 7.2) and the built-in roles that hold them. */
import type { Actor } from "../core/actor.ts";
import type { Scope } from "../core/scope.ts";
import { problem } from "./problems.ts";

export type Permission =
  | "core_connector_edit"
  | "core_connector_view"
  | "core_delegate_edit"
  | "core_pipeline_abort"
  | "core_pipeline_edit"
  | "core_pipeline_execute"
  | "core_pipeline_view"
  | "core_project_create"
  | "core_project_view"
  | "core_user_view";

/** Throws `identity.not_permitted` unless the actor holds the permission in the scope. */
export type Authorize = (actor: Actor, permission: Permission, scope: Scope) => void;

/** The same question, for whoever shows more to those who may do more. */
export type Permits = (actor: Actor, permission: Permission, scope: Scope) => boolean;

export const permits: Permits = (actor, permission, scope) =>
  actor.accountId === scope.accountId && holds(actor, permission);

export const authorize: Authorize = (actor, permission, scope) => {
  if (permits(actor, permission, scope)) return;
  throw problem("identity.not_permitted", [permission], {
    cause: new Error(`actor ${actor.kind === "system" ? "system" : actor.id} lacks ${permission}`),
  });
};

function holds(actor: Actor, permission: Permission): boolean {
  switch (actor.kind) {
    case "user":
      return actor.role === "_account_admin" || permission.endsWith("_view");
    // A trigger was set up by someone who may run the pipeline; it reads what it runs and runs it.
    case "trigger":
      return permission === "core_pipeline_execute" || permission.endsWith("_view");
    case "system":
      return true;
    case "delegate":
      return false;
  }
}

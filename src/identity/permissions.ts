/** Permission identifiers (reference section 7.2) and the built-in roles that hold them. */
import type { Actor } from "../core/actor.ts";
import type { Scope } from "../core/scope.ts";
import { problem } from "./problems.ts";

type Nouns<N extends string, V extends string> = `core_${N}_${V}`;

export type Permission =
  | Nouns<"account" | "setting" | "authsetting", "view" | "edit">
  | Nouns<"audit", "view">
  | Nouns<"organization" | "project", "view" | "create" | "edit" | "delete">
  | Nouns<"user", "view" | "manage" | "invite">
  | Nouns<"usergroup", "view" | "manage">
  | Nouns<"pipeline", "view" | "edit" | "delete" | "execute" | "abort">
  | Nouns<"inputset" | "delegate", "view" | "edit" | "delete">
  | Nouns<"service" | "environment" | "connector" | "secret", "view" | "edit" | "delete" | "access">;

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

/**
 * Who may say where runs use a secret: nobody lets it be used in environments that
 * they may not use themselves, nor outside of where it is used by now when they may not use it there.
 */
import { reach } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { SecretManager } from "../managers/manager.ts";
import { problem } from "../problems.ts";
import { describeEntry, named, type ScopeFacts, type Scoping } from "./scoping.ts";
import { findUncovered, type UsageScope } from "./usage-scope.ts";

/** Throws `secret.beyond_reach` unless the actor may use the environments of every entry: one by its id, or all of an application, or all. */
export type RequireScopeAccess = (scope: UsageScope) => void;

/** What the scopes name is looked up once; what none of them names is out of reach. */
export async function prepareScopeAccess(
  facts: Pick<ScopeFacts, "usable">,
  actor: Actor,
  ...scopes: readonly (UsageScope | null)[]
): Promise<RequireScopeAccess> {
  if (reach(actor, "core_environment_access") === "all") return () => undefined;
  const entries = scopes.flatMap((scope) => scope ?? []);
  const usable = await facts.usable(actor, {
    applications: named(entries, ({ applicationId }) => applicationId),
    environments: named(entries, ({ environmentId }) => environmentId),
  });
  return (scope) => {
    const far = scope.find(({ applicationId, environmentId }) => !usable.has(environmentId ?? applicationId ?? "all"));
    if (far) throw problem("secret.beyond_reach", [describeEntry(far)]);
  };
}

/** Asked with what holds as the row is locked. Throws what `mayUse` throws, and `secret.beyond_reach`. */
export type RequireWidening = (before: UsageScope | null, after: UsageScope | null) => void;

/** For a change from one of the scopes to another; one that covers nothing new is never refused. */
export async function prepareWidening(
  facts: ScopeFacts,
  actor: Actor,
  mayUse: () => void,
  ...scopes: readonly (UsageScope | null)[]
): Promise<RequireWidening> {
  const entries = scopes.flatMap((scope) => scope ?? []);
  const environments = await facts.environments(
    actor,
    named(entries, ({ environmentId }) => environmentId),
  );
  const requireReach = await prepareScopeAccess(facts, actor, entries);
  return (before, after) => {
    const wider = (after ?? []).filter((entry) => findUncovered([entry], before, environments));
    if (wider.length === 0) return;
    mayUse();
    requireReach([...wider, ...(before ?? [])]);
  };
}

/** Where runs may use it, its manager's word included. */
export const effectiveScope = (
  { inheritsScope, usageScope }: Pick<Scoping, "inheritsScope" | "usageScope">,
  manager: SecretManager,
): UsageScope | null => (inheritsScope ? manager.usageScope : usageScope);

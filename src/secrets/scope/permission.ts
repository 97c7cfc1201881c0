/**
 * Permission checks for usage scopes. An actor may only add environments that the actor may use. To widen a scope, the
 * actor must also be allowed to use the secret, and the environments of its present scope.
 */
import { reach, refusalOf } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { SecretManager } from "../managers/manager.ts";
import { problem } from "../problems.ts";
import { describeEntry, named, type ScopeFacts, type Scoping } from "./scoping.ts";
import { findUncovered, type UsageScope } from "./usage-scope.ts";

/**
 * Throws `secret.beyond_reach` unless the actor may use the environments of every entry: one environment by its id, all
 * of an application, or all of the account.
 */
export type RequireScopeAccess = (scope: UsageScope) => void;

/** Looks up what the scopes name, once. The returned check accepts only entries of these scopes. */
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
    for (const entry of scope) {
      const id = entry.environmentId ?? entry.applicationId;
      if (id !== null && usable.permitted.has(id)) continue;
      const refusal =
        id === null
          ? refusalOf(actor, "core_environment_access", { accountId: actor.accountId })
          : usable.refused.get(id);
      throw problem("secret.beyond_reach", [describeEntry(entry)], { refusal });
    }
  };
}

/** Called with the scopes of the locked row. Throws what `mayUse` throws, and `secret.beyond_reach`. */
export type RequireWidening = (before: UsageScope | null, after: UsageScope | null) => void;

/**
 * Prepares the check of a change from one of the scopes to another. A change that covers nothing new is never refused.
 */
export async function prepareWidening(
  facts: ScopeFacts,
  actor: Actor,
  { mayUse, scopes }: { readonly mayUse: () => void; readonly scopes: readonly (UsageScope | null)[] },
): Promise<RequireWidening> {
  const entries = scopes.flatMap((scope) => scope ?? []);
  const { permitted: environments } = await facts.environments(
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

/** The scope that applies to a secret: its own, or the inherited one of its manager. */
export const effectiveScope = (
  { inheritsScope, usageScope }: Pick<Scoping, "inheritsScope" | "usageScope">,
  manager: SecretManager,
): UsageScope | null => (inheritsScope ? manager.usageScope : usageScope);

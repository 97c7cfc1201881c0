/** Maps the two forms of scoping in requests to one usage scope, and checks what a scope names. */
import type { Actor } from "../../core/actor.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Refusal } from "../../core/refused.ts";
import type { SecretManager } from "../managers/manager.ts";
import { problem } from "../problems.ts";
import { findUncovered, type AppEnvScope, type EnvironmentFacts, type UsageScope } from "./usage-scope.ts";

/** The scoping fields of a request. Missing fields are undefined or null; a `usageScope` of null removes the scope. */
export type ScopingInput = {
  readonly usageScope?: UsageScope | null | undefined;
  readonly inheritsScope?: boolean | null | undefined;
  readonly scopedToAccount?: boolean | null | undefined;
};

export type Scoping = {
  readonly usageScope: UsageScope | null;
  readonly inheritsScope: boolean;
  readonly scopedToAccount: boolean;
};

/**
 * Inheriting takes precedence over a scope in the same request. A scope alone ends inheriting. A new secret without
 * scoping fields inherits, unless it is scoped to the account.
 */
export function decideScoping(given: ScopingInput, current?: Scoping): Scoping {
  const scopedToAccount = given.scopedToAccount ?? current?.scopedToAccount ?? false;
  const usageScope = given.usageScope?.length === 0 ? null : given.usageScope;
  const inheritsScope = given.inheritsScope ?? (usageScope ? false : (current?.inheritsScope ?? !scopedToAccount));
  if (inheritsScope) return { usageScope: null, inheritsScope, scopedToAccount };
  return {
    usageScope: usageScope === undefined ? (current?.usageScope ?? null) : usageScope,
    inheritsScope,
    scopedToAccount,
  };
}

/** What exists of that which a scope names: what the actor may see or use, and the refusals of the rest. */
type Checked<Permitted> = { readonly permitted: Permitted; readonly refused: ReadonlyMap<Uuid, Refusal> };

/** Callbacks that look up what a scope names. */
export type ScopeFacts = {
  /** The applications that the actor may see. */
  readonly applications: (actor: Actor, ids: readonly Uuid[]) => Promise<Checked<ReadonlySet<Uuid>>>;
  /** The environments that the actor may see. */
  readonly environments: (actor: Actor, ids: readonly Uuid[]) => Promise<Checked<ReadonlyMap<Uuid, EnvironmentFacts>>>;
  /** The environments that the actor may use, and the applications in which the actor may use all environments. */
  readonly usable: (
    actor: Actor,
    named: { readonly applications: readonly Uuid[]; readonly environments: readonly Uuid[] },
  ) => Promise<Checked<ReadonlySet<Uuid>>>;
};

const MAX_ENTRIES = 100;

/**
 * Throws `secret.bad_scope` or `secret.beyond_manager` unless every entry exists and lies within the manager's scope.
 */
export async function checkScope(
  facts: ScopeFacts,
  actor: Actor,
  { scope, manager }: { readonly scope: UsageScope | null; readonly manager: SecretManager },
): Promise<void> {
  if (!scope) return;
  const found = await checkScopeEntries(facts, actor, scope);
  const outside = findUncovered(scope, manager.usageScope, found);
  if (outside) throw problem("secret.beyond_manager", [manager.name, describeEntry(outside)]);
}

/** Returns the environments that the scope names. Throws `secret.bad_scope` unless everything that it names exists. */
export async function checkScopeEntries(
  facts: ScopeFacts,
  actor: Actor,
  scope: UsageScope,
): Promise<ReadonlyMap<Uuid, EnvironmentFacts>> {
  if (scope.length > MAX_ENTRIES)
    throw problem("secret.bad_scope", [`it has ${scope.length} entries, at most ${MAX_ENTRIES} are allowed`]);
  const applications = named(scope, (entry) => entry.applicationId);
  const environments = named(scope, (entry) => entry.environmentId);
  const known = await facts.applications(actor, applications);
  const unknown = applications.find((id) => !known.permitted.has(id));
  if (unknown)
    throw problem("secret.bad_scope", [noApplication(toWire(unknown))], { refusal: known.refused.get(unknown) });
  const { permitted, refused } = await facts.environments(actor, environments);
  const missing = environments.find((id) => !permitted.has(id));
  if (missing) throw problem("secret.bad_scope", [noEnvironment(toWire(missing))], { refusal: refused.get(missing) });
  const apart = scope.find((entry) => isOfOtherApplication(entry, permitted));
  if (apart) throw problem("secret.bad_scope", [`${describeEntry(apart)} belongs to another application`]);
  return permitted;
}

/** The same message for an unknown id and for a malformed id. */
export const noApplication = (id: string): string => `there is no application with id [${id}]`;
export const noEnvironment = (id: string): string => `there is no environment with id [${id}]`;

export function named(scope: UsageScope, of: (entry: AppEnvScope) => Uuid | null): readonly Uuid[] {
  const ids = scope.map((entry) => of(entry)).filter((id) => id !== null);
  return [...new Set(ids)];
}

function isOfOtherApplication(entry: AppEnvScope, facts: ReadonlyMap<Uuid, EnvironmentFacts>): boolean {
  const home = entry.environmentId === null ? null : (facts.get(entry.environmentId)?.applicationId ?? null);
  return entry.applicationId !== null && home !== null && home !== entry.applicationId;
}

/** Describes an entry for a message. */
export function describeEntry(entry: AppEnvScope): string {
  const application = entry.applicationId === null ? "all applications" : `application ${toWire(entry.applicationId)}`;
  const environment = entry.environmentId === null ? entry.environments : `environment ${toWire(entry.environmentId)}`;
  return `${application} with ${environment ?? "no environment"}`;
}

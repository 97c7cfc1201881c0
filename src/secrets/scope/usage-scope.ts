/** Usage scopes: the applications and environments in which executions may use a secret. Pure. */
import type { Uuid } from "../../core/ids.ts";

export const ENVIRONMENT_KINDS = ["PRODUCTION_ENVIRONMENTS", "NON_PRODUCTION_ENVIRONMENTS"] as const;
export type EnvironmentKind = (typeof ENVIRONMENT_KINDS)[number];

/** Of `environmentId` and `environments`, exactly one is set. */
export type AppEnvScope = {
  /** Null: all applications. */
  readonly applicationId: Uuid | null;
  readonly environmentId: Uuid | null;
  readonly environments: EnvironmentKind | null;
};

/**
 * A run is inside the scope if one entry covers it. Never empty: a scope without entries is null, and covers no run.
 */
export type UsageScope = readonly AppEnvScope[];

/** The place of a step. */
export type RunPlace = {
  readonly applicationId: Uuid;
  /** Null for an environment that does not exist, and outside of environments. */
  readonly environmentId: Uuid | null;
  /** The stage of the step has no environment. Only a scope that covers all environments covers it. */
  readonly isOutside?: true;
  /** Whether the environment is a production one. */
  readonly production: boolean | null;
  /** The names of both in its pipeline. */
  readonly names: { readonly application: string; readonly environment: string };
};

export type EnvironmentFacts = { readonly applicationId: Uuid | null; readonly production: boolean };

export const ENTIRE_ACCOUNT: UsageScope = [
  { applicationId: null, environmentId: null, environments: "PRODUCTION_ENVIRONMENTS" },
  { applicationId: null, environmentId: null, environments: "NON_PRODUCTION_ENVIRONMENTS" },
];

/** Whether the scope covers a run at that place. */
export const permits = (scope: UsageScope | null, place: Omit<RunPlace, "names">): boolean =>
  coversPlace(
    (scope ?? []).filter((entry) => coversApplication(entry, place.applicationId)),
    place,
  );

const coversPlace = (entries: UsageScope, place: Omit<RunPlace, "names">): boolean =>
  place.isOutside
    ? ENVIRONMENT_KINDS.every((kind) => entries.some(({ environments }) => environments === kind))
    : entries.some((entry) => coversEnvironment(entry, place));

/** Says which of application and environment the scope does not cover, for a message. */
export function describeOutside(scope: UsageScope, place: RunPlace): string {
  const application = `application [${place.names.application}]`;
  const environment = place.isOutside
    ? "stage without an environment"
    : `environment [${place.names.environment}] ${kindOf(place)}`;
  if (scope.some((entry) => coversApplication(entry, place.applicationId)))
    return `the run's ${environment} is outside`;
  if (coversPlace(scope, place)) return `the run's ${application} is outside`;
  return `the run's ${application} and ${environment} are outside`;
}

const kindOf = ({ environmentId, production }: RunPlace): string =>
  environmentId === null ? "(not there)" : production === true ? "(production)" : "(not production)";

/**
 * Returns the first entry of `inner` that `outer` does not cover; undefined if `outer` covers all. `facts` has the
 * environments that `inner` names.
 */
export const findUncovered = (
  inner: UsageScope,
  outer: UsageScope | null,
  facts: ReadonlyMap<Uuid, EnvironmentFacts>,
): AppEnvScope | undefined => inner.find((entry) => !(outer ?? []).some((wider) => covers(wider, entry, facts)));

function covers(wider: AppEnvScope, entry: AppEnvScope, facts: ReadonlyMap<Uuid, EnvironmentFacts>): boolean {
  const known = entry.environmentId === null ? undefined : facts.get(entry.environmentId);
  // An environment of one application cannot be used in another one, so its application replaces that of the entry.
  if (!coversApplication(wider, entry.applicationId ?? known?.applicationId ?? null)) return false;
  if (entry.environments !== null) return wider.environments === entry.environments;
  return coversEnvironment(wider, { environmentId: entry.environmentId, production: known?.production ?? null });
}

const coversApplication = (entry: AppEnvScope, applicationId: Uuid | null): boolean =>
  entry.applicationId === null || entry.applicationId === applicationId;

function coversEnvironment(
  entry: AppEnvScope,
  { environmentId, production }: Pick<RunPlace, "environmentId" | "production">,
): boolean {
  switch (entry.environments) {
    case null:
      return entry.environmentId === environmentId;
    case "PRODUCTION_ENVIRONMENTS":
      return production === true;
    case "NON_PRODUCTION_ENVIRONMENTS":
      return production === false;
  }
}

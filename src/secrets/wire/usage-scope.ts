/** The wire shape of usage scopes, the same in GraphQL and REST. */
import { z } from "zod";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { problem } from "../problems.ts";
import { noApplication, noEnvironment } from "../scope/scoping.ts";
import { ENVIRONMENT_KINDS, type AppEnvScope, type EnvironmentKind, type UsageScope } from "../scope/usage-scope.ts";

export type Maybe<T> = T | null | undefined;

export type ScopeInput = {
  readonly appEnvScopes: readonly {
    readonly application: { readonly filterType?: Maybe<"ALL">; readonly appId?: Maybe<string> };
    readonly environment: { readonly filterType?: Maybe<EnvironmentKind>; readonly envId?: Maybe<string> };
  }[];
};

/** The schema of ScopeInput. */
export const usageScopeBody = z.strictObject({
  appEnvScopes: z
    .array(
      z.strictObject({
        application: z.strictObject({ filterType: z.enum(["ALL"]).nullish(), appId: z.string().max(64).nullish() }),
        environment: z.strictObject({
          filterType: z.enum(ENVIRONMENT_KINDS).nullish(),
          envId: z.string().max(64).nullish(),
        }),
      }),
    )
    .max(1_000),
});

export const usageScopeShape = z.strictObject({
  appEnvScopes: z.array(
    z.strictObject({
      application: z.strictObject({ filterType: z.enum(["ALL"]).nullable(), appId: z.string().nullable() }),
      environment: z.strictObject({ filterType: z.enum(ENVIRONMENT_KINDS).nullable(), envId: z.string().nullable() }),
    }),
  ),
});

const idOf = (id: Uuid | null): string | null => (id === null ? null : toWire(id));

export const scopeToWire = (scope: UsageScope | null): z.output<typeof usageScopeShape> | null =>
  scope && {
    appEnvScopes: scope.map(({ applicationId, environmentId, environments }) => ({
      application: { filterType: applicationId === null ? "ALL" : null, appId: idOf(applicationId) },
      environment: { filterType: environments, envId: idOf(environmentId) },
    })),
  };

export const scopeOf = ({ appEnvScopes }: ScopeInput): UsageScope =>
  appEnvScopes.map(({ application, environment }): AppEnvScope => {
    const appId = oneOf("application", "appId", application.filterType, application.appId);
    const envId = oneOf("environment", "envId", environment.filterType, environment.envId);
    return {
      applicationId: appId === null ? null : parseId(appId, noApplication),
      environmentId: envId === null ? null : parseId(envId, noEnvironment),
      environments: environment.filterType ?? null,
    };
  });

/** Returns the id, or null if the filter is set. Throws `secret.bad_scope` unless exactly one of them is set. */
function oneOf(what: string, idName: string, filterType: Maybe<string>, id: Maybe<string>): string | null {
  const given = [filterType, id].filter((each) => each !== null && each !== undefined);
  if (given.length !== 1) throw problem("secret.bad_scope", [`${what} takes exactly one of filterType and ${idName}`]);
  return id ?? null;
}

function parseId(id: string, missing: (id: string) => string): Uuid {
  const found = fromWire(id);
  if (!found) throw problem("secret.bad_scope", [missing(id)]);
  return found;
}

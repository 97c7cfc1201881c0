import type { DataOf } from "../../../api/client.ts";
import { fetchData } from "../../../api/client.ts";
import { fetchGraphql } from "../../../api/graphql.ts";
import { environmentList, type secretGetUsageScope } from "../../../api/operations.gen.ts";

export type UsageScope = DataOf<typeof secretGetUsageScope>;

/** Who may use a secret: as its manager says, executions of the entries, or none. */
export type Mode = "inherit" | "entries" | "none";

/** One line of the editor. `ALL`, `PRODUCTION_ENVIRONMENTS` and the like stand beside ids. */
export type Entry = { readonly application: string; readonly environment: string };

export const ALL = "ALL";
export const FIRST_ENTRY: Entry = { application: ALL, environment: "NON_PRODUCTION_ENVIRONMENTS" };
export const ENVIRONMENT_KINDS = [
  { value: "NON_PRODUCTION_ENVIRONMENTS", label: "All pre-production environments" },
  { value: "PRODUCTION_ENVIRONMENTS", label: "All production environments" },
] as const;

export const modeOf = ({ inheritScopesFromSM, usageScope }: UsageScope): Mode =>
  inheritScopesFromSM ? "inherit" : usageScope === null || usageScope.appEnvScopes.length === 0 ? "none" : "entries";

export const entriesOf = ({ usageScope }: UsageScope): readonly Entry[] =>
  (usageScope?.appEnvScopes ?? []).map(({ application, environment }) => ({
    application: application.appId ?? ALL,
    environment: environment.envId ?? environment.filterType ?? "",
  }));

/** The body that saves what the editor shows. */
export function bodyOf(mode: Mode, entries: readonly Entry[]) {
  if (mode === "inherit") return { inheritScopesFromSM: true };
  return {
    inheritScopesFromSM: false,
    usageScope: mode === "none" ? null : { appEnvScopes: entries.map(entryToWire) },
  };
}

const kindOf = (environment: string) => ENVIRONMENT_KINDS.find(({ value }) => value === environment)?.value;

function entryToWire({ application, environment }: Entry) {
  const filterType = kindOf(environment);
  return {
    application: application === ALL ? { filterType: "ALL" as const } : { appId: application },
    environment: filterType === undefined ? { envId: environment } : { filterType },
  };
}

export type Named = { readonly id: string; readonly name: string };
type Nodes = { readonly nodes: readonly Named[] };

const MOST = 100;

/** Projects by name, with the ids that scopes use. */
export const applicationsQuery = {
  queryKey: ["applications"] as const,
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<readonly Named[]> => {
    const query = `{ applications(limit: ${MOST}) { nodes { id name } } }`;
    return (await fetchGraphql<{ readonly applications: Nodes }>({ query }, signal)).applications.nodes;
  },
};

/** The environments of a project, or of the account. */
export const environmentsQuery = (application: string) => ({
  queryKey: ["environments of", application] as const,
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<readonly Named[]> => {
    if (application === ALL) {
      const { content } = await fetchData(environmentList, { query: { size: MOST } }, { signal });
      return content.map(({ environment }) => environment);
    }
    const query = `query ($id: String!) { application(applicationId: $id) { environments(limit: ${MOST}) { nodes { id name } } } }`;
    const found = await fetchGraphql<{ readonly application: { readonly environments: Nodes } | null }>(
      { query, variables: { id: application } },
      signal,
    );
    return found.application?.environments.nodes ?? [];
  },
});

/** What a trigger may use: what whoever saved it could use then. It outlives their leaving, and lasts until it is saved anew. */
import { heldIn, type Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Grants } from "../core/grants.ts";

type InProject = { readonly orgIdentifier: string; readonly projectIdentifier: string };

/** What a pipeline names: in its project, its organization and the account. */
const USE: ReadonlySet<Permission> = new Set<Permission>([
  ...(["core_secret_view", "core_secret_access"] as const),
  ...(["core_connector_view", "core_connector_access"] as const),
  ...(["core_environment_view", "core_environment_access"] as const),
  ...(["core_service_view", "core_service_access"] as const),
]);

export function authorityOf(actor: Actor, { orgIdentifier, projectIdentifier }: InProject): Grants {
  return heldIn(actor, [{ orgIdentifier, projectIdentifier }, { orgIdentifier }, {}], USE);
}

/** As it is kept; sets and maps have no form in JSON. */
type Kept = Omit<Grants[number], "permissions" | "resources"> & {
  readonly permissions: readonly string[];
  readonly resources: "all" | Readonly<Record<string, "all" | readonly string[]>>;
};

export const keptAuthority = (grants: Grants): string =>
  JSON.stringify(
    grants.map(({ permissions, resources, ...grant }) => ({
      ...grant,
      permissions: [...permissions],
      resources:
        resources === "all"
          ? "all"
          : Object.fromEntries([...resources].map(([type, named]) => [type, named === "all" ? "all" : [...named]])),
    })),
  );

export const readAuthority = (kept: readonly Kept[]): Grants =>
  kept.map(({ permissions, resources, ...grant }) => ({
    ...grant,
    permissions: new Set(permissions),
    resources:
      resources === "all"
        ? "all"
        : new Map(Object.entries(resources).map(([type, named]) => [type, named === "all" ? "all" : new Set(named)])),
  }));

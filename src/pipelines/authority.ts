/**
 * What whoever saved a trigger, a pipeline or an input set could use then. It is kept with what they saved, outlives their
 * leaving, and lasts until that is saved anew: nobody is there to be asked when a trigger runs a pipeline.
 */
import { heldIn, type Permission } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Grants } from "../core/grants.ts";
import type { InProject } from "./pipeline.ts";

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

/** Who has saved something that a run is made of. `what` is for messages. */
export type Author = { readonly what: string; readonly authority: Grants };

/** As it is kept; sets and maps have no form in JSON. */
export type KeptGrant = Omit<Grants[number], "permissions" | "resources"> & {
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

/** Null, of what was saved before this was kept, stays null. */
export function readAuthority(kept: readonly KeptGrant[]): Grants;
export function readAuthority(kept: readonly KeptGrant[] | null): Grants | null;
export function readAuthority(kept: readonly KeptGrant[] | null): Grants | null {
  return (
    kept &&
    kept.map(({ permissions, resources, ...grant }) => ({
      ...grant,
      permissions: new Set(permissions),
      resources:
        resources === "all"
          ? "all"
          : new Map(Object.entries(resources).map(([type, named]) => [type, named === "all" ? "all" : new Set(named)])),
    }))
  );
}

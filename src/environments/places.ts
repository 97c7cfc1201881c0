import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import type { Permits } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { environmentPlaces, selectRunPlace, type EnvironmentPlace, type RunPlaceRow } from "./store/entities.ts";

/** Returns the places of the environments that the actor may see, or with `used` may also use. */
export const findEnvironmentPlaces =
  ({ db, permits }: { readonly db: Db; readonly permits: Permits }) =>
  async (
    actor: Actor,
    ids: readonly Uuid[],
    as: "seen" | "used" = "seen",
  ): Promise<ReadonlyMap<Uuid, EnvironmentPlace>> => {
    const { accountId } = actor;
    const found = ids.length === 0 ? [] : await environmentPlaces(db, accountId, ids);
    const asked =
      as === "used"
        ? (["core_environment_view", "core_environment_access"] as const)
        : (["core_environment_view"] as const);
    const permitted = found.filter((one) =>
      asked.every((permission) => permits(actor, permission, scopeOf(accountId, one), one.identifier)),
    );
    return new Map(permitted.map((one) => [one.id, one]));
  };

export type FindEnvironmentPlaces = ReturnType<typeof findEnvironmentPlaces>;

type Named = { readonly names: { readonly application: string; readonly environment: string } };

/** Returns the place of a run by the references of its pipeline. It decides which secrets the run may use. Throws `environment.not_found`. */
export const findRunPlace =
  ({ db }: { readonly db: Db }) =>
  async (
    accountId: Uuid,
    { environmentRef, ...home }: Place & { readonly environmentRef: string },
  ): Promise<RunPlaceRow & Named> => {
    const key = referred(environmentRef, home);
    const found = key && (await selectRunPlace(db, accountId, home, key));
    if (!found) throw problem("environment.not_found", [environmentRef]);
    return { ...found, names: { application: home.projectIdentifier ?? "", environment: environmentRef } };
  };

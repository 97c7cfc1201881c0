import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import type { Permits } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { environmentPlaces, runPlace, type EnvironmentPlace, type RunPlaceRow } from "./store.ts";

/** Where those of the environments lie that the actor may see, or also use. */
export type PlacesOf = (
  actor: Actor,
  ids: readonly Uuid[],
  as?: "seen" | "used",
) => Promise<ReadonlyMap<Uuid, EnvironmentPlace>>;

export const makePlacesOf =
  ({ db, permits }: { readonly db: Db; readonly permits: Permits }): PlacesOf =>
  async (actor, ids, as = "seen") => {
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

/** Where a run is, by what its pipeline says: what decides which secrets it may use. Throws `environment.not_found`. */
export type RunPlace = (
  accountId: Uuid,
  run: Place & { readonly environmentRef: string },
) => Promise<RunPlaceRow & Named>;

type Named = { readonly names: { readonly application: string; readonly environment: string } };

export const makeRunPlace =
  ({ db }: { readonly db: Db }): RunPlace =>
  async (accountId, { environmentRef, ...home }) => {
    const key = referred(environmentRef, home);
    const found = key && (await runPlace(db, accountId, home, key));
    if (!found) throw problem("environment.not_found", [environmentRef]);
    return { ...found, names: { application: home.projectIdentifier ?? "", environment: environmentRef } };
  };

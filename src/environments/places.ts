import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Permits } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { environmentPlaces, type EnvironmentPlace } from "./store.ts";
import { where } from "./verbs.ts";

export type PlacesOf = (actor: Actor, ids: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, EnvironmentPlace>>;

export const makePlacesOf =
  ({ db, permits }: { readonly db: Db; readonly permits: Permits }): PlacesOf =>
  async (actor, ids) => {
    const { accountId } = actor;
    const found = ids.length === 0 ? [] : await environmentPlaces(db, accountId, ids);
    const visible = found.filter((one) => permits(actor, "core_environment_view", { accountId, ...where(one) }));
    return new Map(visible.map((one) => [one.id, one]));
  };

import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { referred, scopeOf, type Place } from "../core/reference.ts";
import type { Refusal } from "../core/refused.ts";
import { refusalOf } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import {
  environmentPlaces,
  selectProductionReferences,
  selectRunPlace,
  type EnvironmentPlace,
  type RunPlaceRow,
} from "./store/entities.ts";

/**
 * The places of the existing environments that the actor may see, or with `used` may also use, and the refusals of the
 * others.
 */
export const findEnvironmentPlaces =
  ({ db }: { readonly db: Db }) =>
  async (
    actor: Actor,
    ids: readonly Uuid[],
    as: "seen" | "used" = "seen",
  ): Promise<{
    readonly permitted: ReadonlyMap<Uuid, EnvironmentPlace>;
    readonly refused: ReadonlyMap<Uuid, Refusal>;
  }> => {
    const { accountId } = actor;
    const found = ids.length === 0 ? [] : await environmentPlaces(db, accountId, ids);
    const asked =
      as === "used"
        ? (["core_environment_view", "core_environment_access"] as const)
        : (["core_environment_view"] as const);
    const permitted = new Map<Uuid, EnvironmentPlace>();
    const refused = new Map<Uuid, Refusal>();
    for (const one of found) {
      const [refusal] = asked.flatMap(
        (permission) => refusalOf(actor, permission, scopeOf(accountId, one), one.identifier) ?? [],
      );
      if (refusal) refused.set(one.id, refusal);
      else permitted.set(one.id, one);
    }
    return { permitted, refused };
  };

/** Returns environments by id with their projects; one that does not exist is in neither map. */
export type FindEnvironmentPlaces = ReturnType<typeof findEnvironmentPlaces>;

type FoundPlace = RunPlaceRow & {
  /** The step stands in no environment. */
  readonly isOutside?: true;
  readonly names: { readonly application: string; readonly environment: string };
};

/**
 * Returns the place of a step by the references of its pipeline; without an environment that of its project. It decides
 * which secrets the step may use. Throws `environment.not_found`.
 */
export const findRunPlace =
  ({ db }: { readonly db: Db }) =>
  async (
    accountId: Uuid,
    { environmentRef, ...home }: Place & { readonly environmentRef?: string },
  ): Promise<FoundPlace> => {
    const application = home.projectIdentifier ?? "";
    if (environmentRef === undefined) {
      const project = await selectRunPlace(db, accountId, { project: home, environment: undefined });
      if (!project) throw problem("environment.no_project", [application]);
      return { ...project, isOutside: true, names: { application, environment: "" } };
    }
    const key = referred(environmentRef, home);
    const found = key && (await selectRunPlace(db, accountId, { project: home, environment: key }));
    if (!found) throw problem("environment.not_found", [environmentRef]);
    return { ...found, names: { application, environment: environmentRef } };
  };

/** Returns the production environments of a project and of what is around it, as the project refers to them. */
export const findProduction =
  ({ db }: { readonly db: Db }) =>
  (accountId: Uuid, project: Required<Place>): Promise<readonly string[]> =>
    selectProductionReferences(db, accountId, project);

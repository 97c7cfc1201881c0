import { authorizeSomewhere, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Db } from "../platform/db/db.ts";
import type { EntityOfProject, Kind } from "./entity.ts";
import { countOfProjects, selectOfProjects } from "./store/of-projects.ts";

export type ListOfProjects<T extends EntityOfProject> = ReturnType<typeof listOfProjects<T>>;

/**
 * Lists a page of entities for each project, in the order of the projects, by name. Runs one statement for all
 * projects, and a second one if a total is read. Omits entities that the actor may not see. A deleted project has an
 * empty page.
 */
export const listOfProjects =
  <T extends EntityOfProject>({ db }: { readonly db: Db }, kind: Kind) =>
  async (
    actor: Actor,
    projects: readonly Uuid[],
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<readonly Page<T>[]> => {
    const permission = `core_${kind.noun}_view` as const;
    authorizeSomewhere(actor, permission);
    const filter = { projects, reach: reach(actor, permission) };
    const rows = await selectOfProjects<T>(db, actor.accountId, { kind, filter, window: { limit, offset } });
    const found = Map.groupBy(rows, ({ projectId }) => projectId);
    let counted: Promise<ReadonlyMap<Uuid, number>> | undefined;
    const totals = () => (counted ??= countOfProjects(db, actor.accountId, { kind, filter }));
    return projects.map((id) => ({
      items: found.get(id) ?? [],
      limit,
      offset,
      total: async () => (await totals()).get(id) ?? 0,
    }));
  };

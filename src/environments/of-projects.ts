import { authorizeSomewhere, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Db } from "../platform/db/db.ts";
import type { EntityOfProject, Kind } from "./entity.ts";
import { countOfProjects, selectOfProjects } from "./store/of-projects.ts";

/**
 * A page of each of these projects, by name, in their order: one statement for all of them, and one more for the totals
 * when somebody asks for one. What the actor may not see is not in it; a project that is gone has none.
 */
export type ListOfProjects<T extends EntityOfProject> = (
  actor: Actor,
  projects: readonly Uuid[],
  window: { readonly limit: number; readonly offset: number },
) => Promise<readonly Page<T>[]>;

export const listOfProjects =
  <T extends EntityOfProject>({ db }: { readonly db: Db }, kind: Kind): ListOfProjects<T> =>
  async (actor, projects, { limit, offset }) => {
    const permission = `core_${kind.noun}_view` as const;
    authorizeSomewhere(actor, permission);
    const asked = { projects, reach: reach(actor, permission) };
    const rows = await selectOfProjects<T>(db, kind, actor.accountId, asked, { limit, offset });
    const found = Map.groupBy(rows, ({ projectId }) => projectId);
    let counted: Promise<ReadonlyMap<Uuid, number>> | undefined;
    const totals = () => (counted ??= countOfProjects(db, kind, actor.accountId, asked));
    return projects.map((id) => ({
      items: found.get(id) ?? [],
      limit,
      offset,
      total: async () => (await totals()).get(id) ?? 0,
    }));
  };

import type { Actor } from "../core/actor.ts";
import type { Page, Window } from "../core/page.ts";
import { authorizeSomewhere, reach, type Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { Project } from "./project.ts";
import { countMatching, findProject, selectProjects, type ProjectFilter } from "./store/projects.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** Returns one project. Throws `project.not_found`. */
export const getProject =
  (deps: Deps) =>
  async (actor: Actor, orgIdentifier: string, identifier: string): Promise<Project> => {
    deps.authorize(actor, "core_project_view", {
      accountId: actor.accountId,
      orgIdentifier,
      projectIdentifier: identifier,
    });
    const project = await findProject(deps.db, actor.accountId, { orgIdentifier, identifier });
    if (!project) throw problem("project.not_found", [identifier, orgIdentifier]);
    return project;
  };

/** Throws `project.not_found`. `getFor` of the slice has the same form and checks no permission. */
export type GetProject = ReturnType<typeof getProject>;

/** Lists projects by name. A missing organization has none. */
export const listProjects =
  ({ db }: Deps) =>
  async (actor: Actor, given: Omit<ProjectFilter, "reach">, window: Window): Promise<Page<Project>> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_project_view");
    const filter = { ...given, reach: reach(actor, "core_project_view") };
    const items = await selectProjects(db, accountId, { filter, window });
    return { items, ...window, total: () => countMatching(db, accountId, filter) };
  };

export type ListProjects = ReturnType<typeof listProjects>;

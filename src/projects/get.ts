import type { Actor } from "../core/actor.ts";
import type { Page, Window } from "../core/page.ts";
import { authorizeSomewhere, reach, type Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { Project } from "./project.ts";
import { organizationExists } from "./store/organizations.ts";
import { countMatching, findProject, listProjects, type ProjectFilter } from "./store/projects.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** Throws `project.not_found`. */
export type GetProject = (actor: Actor, orgIdentifier: string, identifier: string) => Promise<Project>;

export const makeGetProject =
  (deps: Deps): GetProject =>
  async (actor, orgIdentifier, identifier) => {
    deps.authorize(actor, "core_project_view", {
      accountId: actor.accountId,
      orgIdentifier,
      projectIdentifier: identifier,
    });
    const project = await findProject(deps.db, actor.accountId, orgIdentifier, identifier);
    if (!project) throw problem("project.not_found", [identifier, orgIdentifier]);
    return project;
  };

/** Projects by name. An organization that does not exist has none. */
export type ListProjects = (
  actor: Actor,
  filter: Omit<ProjectFilter, "reach">,
  window: Window,
) => Promise<Page<Project>>;

export const makeListProjects =
  ({ db }: Deps): ListProjects =>
  async (actor, given, window) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_project_view");
    const filter = { ...given, reach: reach(actor, "core_project_view") };
    const items = await listProjects(db, accountId, filter, window);
    return { items, ...window, total: () => countMatching(db, accountId, filter) };
  };

/** Throws `project.no_organization`, `project.not_found`, `project.without_organization` unless account, organization or project exist. */
export type RequireScope = (actor: Actor, scope: MaybeProject) => Promise<void>;

type MaybeProject = { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };

export const makeRequireScope =
  (deps: Pick<Deps, "db">): RequireScope =>
  async ({ accountId }, { orgIdentifier, projectIdentifier }) => {
    if (orgIdentifier === null) {
      if (projectIdentifier !== null) throw problem("project.without_organization");
    } else if (projectIdentifier === null) {
      if (!(await organizationExists(deps.db, accountId, orgIdentifier)))
        throw problem("project.no_organization", [orgIdentifier]);
    } else if (!(await findProject(deps.db, accountId, orgIdentifier, projectIdentifier)))
      throw problem("project.not_found", [projectIdentifier, orgIdentifier]);
  };

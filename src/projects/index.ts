/** Account → organization → project. GraphQL calls a project an application. */
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { createProject } from "./create.ts";
import { findVisibleApplications } from "./applications/visible.ts";
import {
  createApplication,
  getApplication,
  getApplications,
  getApplicationByName,
  listApplications,
  updateApplication,
} from "./applications/operations.ts";
import { deleteApplication, deleteProject } from "./delete.ts";
import { getProject, type GetProject, listProjects } from "./get.ts";
import { createOrganization } from "./organizations/create.ts";
import { deleteOrganization } from "./organizations/delete.ts";
import { getOrganization } from "./organizations/get.ts";
import { listOrganizations } from "./organizations/list.ts";
import type { OrganizationDeps } from "./organizations/shared.ts";
import { updateOrganization } from "./organizations/update.ts";
import { DEFAULT_ORGANIZATION } from "./project.ts";
import { requireScope } from "./require-scope.ts";
import { organizationRoutes } from "./rest/organizations.ts";
import { projectRoutes } from "./rest/projects.ts";
import { insertOrganization } from "./store/organizations.ts";
import { tagApplication } from "./tag.ts";
import { updateProject } from "./update.ts";

export { addProjectTypes, type ApplicationNode } from "./graphql.ts";
export type { GetProject } from "./get.ts";
export type { RequireScope } from "./require-scope.ts";
export { emptyScopeOfAll, type EmptyScope } from "./empty-scope.ts";

/** The statement behind GraphQL `applications`, for the benchmark's floor. */
export { applicationsStatement } from "./store/applications.ts";

export { DEFAULT_ORGANIZATION };

const getProjectAsSystem =
  (deps: OrganizationDeps): GetProject =>
  ({ accountId }, ...which) =>
    getProject(deps)({ kind: "system", accountId }, ...which);

/** The operations on projects, and those of GraphQL, which calls a project an application. */
export type Projects = ReturnType<typeof createProjects>;

/** `emptyScope` deletes what other slices have in a deleted scope, in the transaction of its deletion. */
export function createProjects(deps: OrganizationDeps) {
  const create = createProject(deps);
  const operations = {
    create,
    get: getProject(deps),
    /** Without a permission check, for operations on resources in the project, which check their own permission. */
    getFor: getProjectAsSystem(deps),
    list: listProjects(deps),
    update: updateProject(deps),
    delete: deleteProject(deps),
    getApplication: getApplication(deps),
    getApplications: getApplications(deps),
    getApplicationByName: getApplicationByName(deps),
    createApplication: createApplication({ ...deps, create }),
    updateApplication: updateApplication(deps),
    deleteApplication: deleteApplication(deps),
    listApplications: listApplications(deps),
    tagApplication: tagApplication(deps),
    requireScope: requireScope(deps),
    applicationsExist: findVisibleApplications(deps),
  };
  return {
    ...operations,
    routes: [
      ...organizationRoutes({
        create: createOrganization(deps),
        get: getOrganization(deps),
        list: listOrganizations(deps),
        update: updateOrganization(deps),
        delete: deleteOrganization(deps),
      }),
      ...projectRoutes(operations),
    ],
    /** Inserts the organization `default` of a new account. */
    seedAccount: async (tx: Tx, accountId: Uuid): Promise<void> => {
      const at = deps.clock.now();
      const named = { identifier: DEFAULT_ORGANIZATION, name: "Default", description: "", tags: {} };
      await insertOrganization(tx, accountId, { ...named, id: deps.newId(), version: 1, createdAt: at, updatedAt: at });
    },
  };
}

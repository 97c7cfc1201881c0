/** Account → organization → project. GraphQL calls a project an application. */
import type { Uuid } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { makeCreateProject } from "./create.ts";
import { makeApplicationsExist } from "./exist.ts";
import {
  makeCreateApplication,
  makeGetApplication,
  makeGetApplicationByName,
  makeListApplications,
  makeUpdateApplication,
} from "./applications.ts";
import { makeDeleteApplication, makeDeleteProject } from "./delete.ts";
import { makeGetProject, type GetProject, makeListProjects, makeRequireScope } from "./get.ts";
import { makeOrganizations, type OrganizationDeps } from "./organizations.ts";
import { DEFAULT_ORGANIZATION } from "./project.ts";
import { organizationRoutes } from "./rest-organizations.ts";
import { projectRoutes } from "./rest.ts";
import { insertOrganization } from "./store/organizations.ts";
import { makeTagApplication } from "./tag.ts";
import { makeUpdateProject } from "./update.ts";

export { addProjectTypes, type ApplicationNode } from "./graphql.ts";
export type { GetProject, RequireScope } from "./get.ts";
export { eachOf, type EmptyScope } from "./leaving.ts";

/** The statement behind GraphQL `applications`, for the benchmark's floor. */
export { applicationsStatement } from "./store/applications.ts";

export { DEFAULT_ORGANIZATION };

const getForAnyone =
  (deps: OrganizationDeps): GetProject =>
  ({ accountId }, ...which) =>
    makeGetProject(deps)({ kind: "system", accountId }, ...which);

export type Projects = ReturnType<typeof makeProjects>;

export function makeProjects(deps: OrganizationDeps) {
  const create = makeCreateProject(deps);
  const verbs = {
    create,
    get: makeGetProject(deps),
    /** For who may see what lies in it: to see the project itself is another permission. */
    getFor: getForAnyone(deps),
    list: makeListProjects(deps),
    update: makeUpdateProject(deps),
    delete: makeDeleteProject(deps),
    getApplication: makeGetApplication(deps),
    getApplicationByName: makeGetApplicationByName(deps),
    createApplication: makeCreateApplication({ ...deps, create }),
    updateApplication: makeUpdateApplication(deps),
    deleteApplication: makeDeleteApplication(deps),
    listApplications: makeListApplications(deps),
    tagApplication: makeTagApplication(deps),
    requireScope: makeRequireScope(deps),
    applicationsExist: makeApplicationsExist(deps),
  };
  return {
    ...verbs,
    routes: [...organizationRoutes(makeOrganizations(deps)), ...projectRoutes(verbs)],
    /** What every account begins with: the organization `default`. */
    furnish: async (tx: Tx, accountId: Uuid): Promise<void> => {
      const at = deps.clock.now();
      const named = { identifier: DEFAULT_ORGANIZATION, name: "Default", description: "", tags: {} };
      await insertOrganization(tx, accountId, { ...named, id: deps.newId(), version: 1, createdAt: at, updatedAt: at });
    },
  };
}

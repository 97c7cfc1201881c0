/** Account → organization → project. GraphQL calls a project an application. */
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../identity/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { makeCreateProject } from "./create.ts";
import { makeApplicationsExist } from "./exist.ts";
import {
  makeCreateApplication,
  makeGetApplication,
  makeGetApplicationByName,
  makeListApplications,
  makeUpdateApplication,
} from "./applications.ts";
import { makeGetProject, makeRequireScope } from "./get.ts";
import { DEFAULT_ORGANIZATION } from "./project.ts";
import { projectRoutes } from "./rest.ts";
import { insertOrganization } from "./store/organizations.ts";

export { addProjectTypes, type ApplicationNode, type ApplicationVerbs } from "./graphql.ts";
export type { GetProject, RequireScope } from "./get.ts";

export { DEFAULT_ORGANIZATION };

export type Projects = ReturnType<typeof makeProjects>;

export function makeProjects(deps: { db: Db; audit: Audit; authorize: Authorize; clock: Clock; newId: NewId }) {
  const create = makeCreateProject(deps);
  const verbs = {
    create,
    get: makeGetProject(deps),
    getApplication: makeGetApplication(deps),
    getApplicationByName: makeGetApplicationByName(deps),
    createApplication: makeCreateApplication({ ...deps, create }),
    updateApplication: makeUpdateApplication(deps),
    listApplications: makeListApplications(deps),
    requireScope: makeRequireScope(deps),
    applicationsExist: makeApplicationsExist(deps),
  };
  return {
    ...verbs,
    routes: projectRoutes(verbs),
    /** What every account begins with: the organization `default`. */
    furnish: (tx: Tx, accountId: Uuid): Promise<void> =>
      insertOrganization(tx, accountId, {
        id: deps.newId(),
        identifier: DEFAULT_ORGANIZATION,
        name: "Default",
        at: deps.clock.now(),
      }),
  };
}

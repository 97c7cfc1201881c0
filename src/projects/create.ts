import { actorId, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { shownProject, type NewProject, type Project } from "./project.ts";
import { lockName, isNameTaken } from "./store/applications.ts";
import { organizationExists } from "./store/organizations.ts";
import { insertProject } from "./store/projects.ts";

/**
 * Creates a project. Throws `project.no_organization`, `project.duplicate`. With `once`, the name must be unique in the
 * account, otherwise `project.duplicate_name` is thrown: names of applications are unique, names of projects are not.
 */
export const createProject =
  (deps: { db: Db; audit: Audit; authorize: Authorize; clock: Clock; newId: NewId }) =>
  async (actor: Actor, input: NewProject, name?: "once"): Promise<Project> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_project_create", { accountId, orgIdentifier: input.orgIdentifier });
    const at = deps.clock.now();
    const project: Project = { ...input, id: deps.newId(), version: 1, createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await organizationExists(tx, accountId, input.orgIdentifier)))
        throw problem("project.no_organization", [input.orgIdentifier]);
      if (name === "once") {
        await lockName(tx, accountId, input.name);
        if (await isNameTaken(tx, accountId, { name: input.name, except: null }))
          throw problem("project.duplicate_name", [input.name]);
      }
      if (!(await insertProject(tx, accountId, { project, createdBy: actorId(actor) })))
        throw problem("project.duplicate", [input.identifier, input.orgIdentifier]);
      await deps.audit.record(tx, actor, {
        operation: "project.create",
        resourceType: "PROJECT",
        resourceId: input.identifier,
        scope: { orgIdentifier: input.orgIdentifier, projectIdentifier: input.identifier },
        after: shownProject(project),
      });
    });
    return project;
  };

export type CreateProject = ReturnType<typeof createProject>;

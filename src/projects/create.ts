import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { NewProject, Project } from "./project.ts";
import { insertProject, organizationExists } from "./store.ts";

/** Throws `project.no_organization`, `project.duplicate`. */
export type CreateProject = (actor: Actor, project: NewProject) => Promise<Project>;

export const makeCreateProject =
  (deps: { db: Db; audit: Audit; authorize: Authorize; clock: Clock; newId: NewId }): CreateProject =>
  async (actor, input) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_project_create", { accountId, orgIdentifier: input.orgIdentifier });
    const at = deps.clock.now();
    const project: Project = { ...input, id: deps.newId(), version: 1, createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await organizationExists(tx, accountId, input.orgIdentifier)))
        throw problem("project.no_organization", [input.orgIdentifier]);
      if (!(await insertProject(tx, accountId, project)))
        throw problem("project.duplicate", [input.identifier, input.orgIdentifier]);
      await deps.audit.record(tx, actor, {
        operation: "project.create",
        resourceType: "PROJECT",
        resourceId: input.identifier,
        scope: { orgIdentifier: input.orgIdentifier, projectIdentifier: input.identifier },
      });
    });
    return project;
  };

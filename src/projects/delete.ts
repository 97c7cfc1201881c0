import type { Actor } from "../core/actor.ts";
import { commonProblem } from "../core/problems.ts";
import { shownRemovals } from "../platform/removed-reference.ts";
import { fromWire } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import { authorizeSomewhere, type Authorize } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { refusalOn } from "./applications/operations.ts";
import type { EmptyScope } from "./empty-scope.ts";
import { problem } from "./problems.ts";
import { shownProject, type Project, type ProjectKey } from "./project.ts";
import { deleteProjectRow, findProject, findProjectById, lockProjectForDeletion } from "./store/projects.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly emptyScope: EmptyScope;
};

/**
 * Deletes a project and all of its resources, including executions, in one transaction. Throws `project.not_found`,
 * `core.stale_version`, and `core.referenced` while an execution runs.
 */
export const deleteProject =
  (deps: Deps) =>
  async (actor: Actor, key: ProjectKey, version: number | undefined): Promise<void> => {
    const { accountId } = actor;
    const { orgIdentifier, identifier } = key;
    deps.authorize(actor, "core_project_delete", { accountId, orgIdentifier, projectIdentifier: identifier });
    await deps.db.transaction(async (tx) => {
      const missing = problem("project.not_found", [identifier, orgIdentifier]);
      const project = await findProject(tx, accountId, key);
      if (!project) throw missing;
      await remove(tx, deps, { actor, project, version, missing });
    });
  };

export type DeleteProject = ReturnType<typeof deleteProject>;

/** Deletes a project by its application id. Throws `project.no_application`, `core.referenced`. */
export const deleteApplication =
  (deps: Deps) =>
  async (actor: Actor, applicationId: string): Promise<void> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_project_delete");
    const id = fromWire(applicationId);
    await deps.db.transaction(async (tx) => {
      const project = id && (await findProjectById(tx, accountId, id));
      const refusal = project && refusalOn(actor, "core_project_view", project);
      const missing = problem("project.no_application", [], { refusal });
      if (!project || refusal) throw missing;
      const scope = { accountId, orgIdentifier: project.orgIdentifier, projectIdentifier: project.identifier };
      deps.authorize(actor, "core_project_delete", scope);
      await remove(tx, deps, { actor, project, version: undefined, missing });
    });
  };

export type DeleteApplication = ReturnType<typeof deleteApplication>;

type Removal = {
  readonly actor: Actor;
  readonly project: Project;
  readonly version: number | undefined;
  /** Thrown if the project was deleted meanwhile. */
  readonly missing: Error;
};

async function remove(tx: Tx, deps: Deps, { actor, project, version, missing }: Removal): Promise<void> {
  const { accountId } = actor;
  const { id, identifier, orgIdentifier } = project;
  const now = await lockProjectForDeletion(tx, accountId, id);
  if (!now) throw missing;
  // The version is checked before the long deletion of resources; the last statement checks it again.
  const stale = commonProblem("core.stale_version", ["Project", identifier, String(now.version), String(version)]);
  if (version !== undefined && version !== now.version) throw stale;
  const removed = await deps.emptyScope(tx, { accountId, orgIdentifier, projectIdentifier: identifier, projectId: id });
  if (!(await deleteProjectRow(tx, accountId, { id, version }))) throw stale;
  await deps.audit.record(tx, actor, {
    operation: "project.delete",
    resourceType: "PROJECT",
    resourceId: identifier,
    scope: { orgIdentifier, projectIdentifier: identifier },
    before: { ...shownRemovals(removed), ...shownProject(now) },
  });
}

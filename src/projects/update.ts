import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { commonProblem } from "../core/problems.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { shownProject, type NewProject, type Project, type ProjectChanges } from "./project.ts";
import { findProject, lockProjectForChange, updateProjectRow } from "./store/projects.ts";

type ProjectChange = {
  readonly actor: Actor;
  readonly project: Project;
  readonly changes: ProjectChanges;
  readonly version: number | undefined;
  /** Thrown if the project was deleted meanwhile. */
  readonly missing: Error;
};

/**
 * Changes a project and writes the audit entry. Throws `core.stale_version`, and `missing` if the project was deleted.
 */
export async function changeProject(
  tx: Tx,
  deps: { audit: Audit; clock: Clock },
  { actor, project, changes, version, missing }: ProjectChange,
): Promise<Project> {
  const { accountId } = actor;
  const now = await lockProjectForChange(tx, accountId, project.id);
  if (!now) throw missing;
  const changed = await updateProjectRow(tx, accountId, { id: project.id, changes, version, at: deps.clock.now() });
  if (!changed)
    throw commonProblem("core.stale_version", ["Project", now.identifier, String(now.version), String(version)]);
  await deps.audit.record(tx, actor, {
    operation: "project.update",
    resourceType: "PROJECT",
    resourceId: changed.identifier,
    scope: { orgIdentifier: changed.orgIdentifier, projectIdentifier: changed.identifier },
    before: shownProject(now),
    after: shownProject(changed),
  });
  return changed;
}

/**
 * Changes a project; organization and identifier stay. Throws `project.other_identifier`, `project.not_found`,
 * `core.stale_version`.
 */
export const updateProject =
  (deps: { db: Db; audit: Audit; authorize: Authorize; clock: Clock }) =>
  async (
    actor: Actor,
    identifier: string,
    { project: wanted, version }: { readonly project: NewProject; readonly version: number | undefined },
  ): Promise<Project> => {
    const { accountId } = actor;
    const { orgIdentifier, identifier: given, ...changes } = wanted;
    deps.authorize(actor, "core_project_edit", { accountId, orgIdentifier, projectIdentifier: identifier });
    if (given !== identifier) throw problem("project.other_identifier", [given, identifier]);
    return deps.db.transaction(async (tx) => {
      const missing = problem("project.not_found", [identifier, orgIdentifier]);
      const project = await findProject(tx, accountId, { orgIdentifier, identifier });
      if (!project) throw missing;
      return changeProject(tx, deps, { actor, project, changes, version, missing });
    });
  };

export type UpdateProject = ReturnType<typeof updateProject>;

import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { commonProblem } from "../core/problems.ts";
import type { Audit } from "../audit/index.ts";
import type { Tx } from "../platform/db/db.ts";
import type { Project, ProjectChanges } from "./project.ts";
import { findProjectById, updateProject } from "./store/projects.ts";

export type Change = { readonly changes: ProjectChanges; readonly version: number | undefined };

/** Changes a project that was there a moment ago, with its entry in the trail. Throws `core.stale_version`, `gone`. */
export async function change(
  tx: Tx,
  deps: { audit: Audit; clock: Clock },
  actor: Actor,
  { project, gone, ...what }: Change & { readonly project: Project; readonly gone: Error },
): Promise<Project> {
  const { accountId } = actor;
  const changed = await updateProject(tx, accountId, project.id, { ...what, at: deps.clock.now() });
  if (!changed) {
    const now = await findProjectById(tx, accountId, project.id);
    if (!now) throw gone;
    throw commonProblem("core.stale_version", ["Project", now.identifier, String(now.version), String(what.version)]);
  }
  await deps.audit.record(tx, actor, {
    operation: "project.update",
    resourceType: "PROJECT",
    resourceId: changed.identifier,
    scope: { orgIdentifier: changed.orgIdentifier, projectIdentifier: changed.identifier },
  });
  return changed;
}

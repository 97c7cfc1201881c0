import type { Actor } from "../../core/actor.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Tx } from "../../platform/db/db.ts";
import { shownRemovals } from "../../platform/removed-reference.ts";
import { problem } from "../problems.ts";
import { deleteOrganizationRow, lockOrganizationForDeletion } from "../store/organizations.ts";
import { firstProjects } from "../store/projects.ts";
import { isPlatformManaged, shownOrganization } from "./organization.ts";
import { auditEntry, staleVersion, type OrganizationDeps } from "./shared.ts";

/**
 * Deletes an organization without projects, with its other resources. Throws `project.no_organization`,
 * `project.kept_organization`, `core.stale_version`, `core.referenced`.
 */
export const deleteOrganization =
  (deps: OrganizationDeps) =>
  async (actor: Actor, orgIdentifier: string, version: number | undefined): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_organization_delete", { accountId, orgIdentifier });
    await deps.db.transaction(async (tx) => {
      const organization = await lockOrganizationForDeletion(tx, accountId, orgIdentifier);
      if (!organization) throw problem("project.no_organization", [orgIdentifier]);
      if (isPlatformManaged(organization)) throw problem("project.kept_organization", [orgIdentifier]);
      await requireNoProjects(tx, actor, orgIdentifier);
      const removed = await deps.emptyScope(tx, { accountId, orgIdentifier, projectIdentifier: null, projectId: null });
      if (!(await deleteOrganizationRow(tx, accountId, { identifier: orgIdentifier, version })))
        throw staleVersion(organization, version);
      await deps.audit.record(tx, actor, {
        ...auditEntry("delete", orgIdentifier),
        before: { ...shownRemovals(removed), ...shownOrganization(organization) },
      });
    });
  };

export type DeleteOrganization = ReturnType<typeof deleteOrganization>;

async function requireNoProjects(tx: Tx, { accountId }: Actor, orgIdentifier: string): Promise<void> {
  const { total, first } = await firstProjects(tx, accountId, orgIdentifier);
  if (total === 0) return;
  const more = total > first.length ? ` and ${total - first.length} more` : "";
  throw commonProblem("core.referenced", ["Organization", orgIdentifier, `its projects ${first.join(", ")}${more}`]);
}

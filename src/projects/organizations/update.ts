import type { Actor } from "../../core/actor.ts";
import { problem } from "../problems.ts";
import { lockOrganizationForChange, updateOrganizationRow } from "../store/organizations.ts";
import { shownOrganization, type NewOrganization, type Organization } from "./organization.ts";
import { auditEntry, staleVersion, type OrganizationDeps } from "./shared.ts";

/** The identifier stays. Throws `project.other_identifier`, `project.no_organization`, `core.stale_version`. */
export const updateOrganization =
  (deps: OrganizationDeps) =>
  async (
    actor: Actor,
    identifier: string,
    { organization: fields, version }: { readonly organization: NewOrganization; readonly version: number | undefined },
  ): Promise<Organization> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_organization_edit", { accountId, orgIdentifier: identifier });
    if (fields.identifier !== identifier) throw problem("project.other_identifier", [fields.identifier, identifier]);
    return deps.db.transaction(async (tx) => {
      const now = await lockOrganizationForChange(tx, accountId, identifier);
      if (!now) throw problem("project.no_organization", [identifier]);
      const changed = await updateOrganizationRow(tx, accountId, { identifier, fields, version, at: deps.clock.now() });
      if (!changed) throw staleVersion(now, version);
      await deps.audit.record(tx, actor, {
        ...auditEntry("update", identifier),
        before: shownOrganization(now),
        after: shownOrganization(changed),
      });
      return changed;
    });
  };

export type UpdateOrganization = ReturnType<typeof updateOrganization>;

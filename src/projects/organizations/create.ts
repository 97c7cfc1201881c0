import type { Actor } from "../../core/actor.ts";
import { problem } from "../problems.ts";
import { insertOrganization } from "../store/organizations.ts";
import { shownOrganization, type NewOrganization, type Organization } from "./organization.ts";
import { auditEntry, type OrganizationDeps } from "./shared.ts";

/** Throws `project.duplicate_organization`. */
export const createOrganization =
  (deps: OrganizationDeps) =>
  async (actor: Actor, input: NewOrganization): Promise<Organization> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_organization_create", { accountId });
    const at = deps.clock.now();
    const organization: Organization = { ...input, id: deps.newId(), version: 1, createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await insertOrganization(tx, accountId, organization)))
        throw problem("project.duplicate_organization", [input.identifier]);
      await deps.audit.record(tx, actor, {
        ...auditEntry("create", input.identifier),
        after: shownOrganization(organization),
      });
    });
    return organization;
  };

export type CreateOrganization = ReturnType<typeof createOrganization>;

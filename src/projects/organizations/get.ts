import type { Actor } from "../../core/actor.ts";
import { problem } from "../problems.ts";
import { findOrganization } from "../store/organizations.ts";
import type { Organization } from "./organization.ts";
import type { OrganizationDeps } from "./shared.ts";

/** Throws `project.no_organization`. */
export const getOrganization =
  (deps: OrganizationDeps) =>
  async (actor: Actor, orgIdentifier: string): Promise<Organization> => {
    deps.authorize(actor, "core_organization_view", { accountId: actor.accountId, orgIdentifier });
    const organization = await findOrganization(deps.db, actor.accountId, orgIdentifier);
    if (!organization) throw problem("project.no_organization", [orgIdentifier]);
    return organization;
  };

export type GetOrganization = ReturnType<typeof getOrganization>;

import { authorizeSomewhere, reach } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import { countOrganizations, selectOrganizations, type OrganizationFilter } from "../store/organizations.ts";
import type { Organization } from "./organization.ts";
import type { OrganizationDeps } from "./shared.ts";

/** Lists the organizations that the actor may view. */
export const listOrganizations =
  ({ db }: OrganizationDeps) =>
  async (actor: Actor, given: Omit<OrganizationFilter, "reach">, window: Window): Promise<Page<Organization>> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_organization_view");
    const filter = { ...given, reach: reach(actor, "core_organization_view") };
    const items = await selectOrganizations(db, accountId, { filter, window });
    return { items, ...window, total: () => countOrganizations(db, accountId, filter) };
  };

export type ListOrganizations = ReturnType<typeof listOrganizations>;

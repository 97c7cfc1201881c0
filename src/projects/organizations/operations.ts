import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import { commonProblem } from "../../core/problems.ts";
import { goneToo } from "../../platform/removed-reference.ts";
import type { Audit } from "../../audit/index.ts";
import { authorizeSomewhere, reach, type Authorize } from "../../access/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import type { EmptyScope } from "../empty-scope.ts";
import { isPlatformManaged, shownOrganization, type NewOrganization, type Organization } from "./organization.ts";
import { problem } from "../problems.ts";
import {
  countOrganizations,
  deleteOrganizationRow,
  findOrganization,
  lockOrganizationForChange,
  insertOrganization,
  selectOrganizations,
  lockOrganizationForDeletion,
  updateOrganizationRow,
  type OrganizationFilter,
} from "../store/organizations.ts";
import { firstProjects } from "../store/projects.ts";

export type OrganizationDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly emptyScope: EmptyScope;
};

export type OrganizationOperations = ReturnType<typeof createOrganizations>;

const auditEntry = (operation: `organization.${string}`, orgIdentifier: string) => ({
  operation,
  resourceType: "ORGANIZATION",
  resourceId: orgIdentifier,
  scope: { orgIdentifier },
});

export const createOrganizations = (deps: OrganizationDeps) => ({
  create: createOrganization(deps),
  get: getOrganization(deps),
  list: listOrganizations(deps),
  update: updateOrganization(deps),
  delete: deleteOrganization(deps),
});

/** Creates an organization. Throws `project.duplicate_organization`. */
const createOrganization =
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
        ...auditEntry("organization.create", input.identifier),
        after: shownOrganization(organization),
      });
    });
    return organization;
  };

/** Returns one organization. Throws `project.no_organization`. */
const getOrganization =
  (deps: OrganizationDeps) =>
  async (actor: Actor, orgIdentifier: string): Promise<Organization> => {
    deps.authorize(actor, "core_organization_view", { accountId: actor.accountId, orgIdentifier });
    const organization = await findOrganization(deps.db, actor.accountId, orgIdentifier);
    if (!organization) throw problem("project.no_organization", [orgIdentifier]);
    return organization;
  };

const listOrganizations =
  ({ db }: OrganizationDeps) =>
  async (actor: Actor, given: Omit<OrganizationFilter, "reach">, window: Window): Promise<Page<Organization>> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_organization_view");
    const filter = { ...given, reach: reach(actor, "core_organization_view") };
    const items = await selectOrganizations(db, accountId, filter, window);
    return { items, ...window, total: () => countOrganizations(db, accountId, filter) };
  };

/** Changes an organization; its identifier stays. Throws `project.other_identifier`, `project.no_organization`, `core.stale_version`. */
const updateOrganization =
  (deps: OrganizationDeps) =>
  async (actor: Actor, identifier: string, to: NewOrganization, version: number | undefined): Promise<Organization> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_organization_edit", { accountId, orgIdentifier: identifier });
    if (to.identifier !== identifier) throw problem("project.other_identifier", [to.identifier, identifier]);
    return deps.db.transaction(async (tx) => {
      const now = await lockOrganizationForChange(tx, accountId, identifier);
      if (!now) throw problem("project.no_organization", [identifier]);
      const changed = await updateOrganizationRow(tx, accountId, identifier, { to, version, at: deps.clock.now() });
      if (!changed) throw staleVersion(now, version);
      await deps.audit.record(tx, actor, {
        ...auditEntry("organization.update", identifier),
        before: shownOrganization(now),
        after: shownOrganization(changed),
      });
      return changed;
    });
  };

/**
 * Deletes an organization without projects, with its other resources. Throws `project.no_organization`,
 * `project.kept_organization`, `core.stale_version`, `core.referenced`.
 */
const deleteOrganization =
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
      if (!(await deleteOrganizationRow(tx, accountId, orgIdentifier, version)))
        throw staleVersion(organization, version);
      await deps.audit.record(tx, actor, {
        ...auditEntry("organization.delete", orgIdentifier),
        before: { ...goneToo(removed), ...shownOrganization(organization) },
      });
    });
  };

async function requireNoProjects(tx: Tx, { accountId }: Actor, orgIdentifier: string): Promise<void> {
  const { total, first } = await firstProjects(tx, accountId, orgIdentifier);
  if (total === 0) return;
  const more = total > first.length ? ` and ${total - first.length} more` : "";
  throw commonProblem("core.referenced", ["Organization", orgIdentifier, `its projects ${first.join(", ")}${more}`]);
}

const staleVersion = (now: Organization, version: number | undefined): Error =>
  commonProblem("core.stale_version", ["Organization", now.identifier, String(now.version), String(version)]);

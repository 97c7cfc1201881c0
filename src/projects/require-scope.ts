import type { Actor } from "../core/actor.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { organizationExists } from "./store/organizations.ts";
import { findProject } from "./store/projects.ts";

type MaybeProject = { readonly orgIdentifier: string | null; readonly projectIdentifier: string | null };

/**
 * Checks that a scope exists, before a resource is created or listed in it; checks no permission. Throws
 * `project.no_organization`, `project.not_found`, `project.without_organization` unless account, organization or
 * project exist.
 */
export const requireScope =
  ({ db }: { readonly db: Db }) =>
  async ({ accountId }: Actor, { orgIdentifier, projectIdentifier }: MaybeProject): Promise<void> => {
    if (orgIdentifier === null) {
      if (projectIdentifier !== null) throw problem("project.without_organization");
    } else if (projectIdentifier === null) {
      if (!(await organizationExists(db, accountId, orgIdentifier)))
        throw problem("project.no_organization", [orgIdentifier]);
    } else if (!(await findProject(db, accountId, { orgIdentifier, identifier: projectIdentifier })))
      throw problem("project.not_found", [projectIdentifier, orgIdentifier]);
  };

export type RequireScope = ReturnType<typeof requireScope>;

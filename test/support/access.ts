/** Grants and role assignments for tests that create users without the API. */
import { randomUUIDv7 } from "node:crypto";
import { builtInRoles } from "../../src/access/index.ts";
import type { Grant } from "../../src/core/grants.ts";
import { toWire, type Uuid } from "../../src/core/ids.ts";
import type { Db } from "../../src/platform/db/db.ts";

export type BuiltIn =
  | `_${"account" | "organization" | "project"}_${"admin" | "viewer"}`
  /** A role of a project. */
  | "_pipeline_executor";

export type Within = { readonly orgIdentifier?: string; readonly projectIdentifier?: string };

/** The grant of the role over everything in the scope and below it. */
export const grantOf = (role: BuiltIn, scope: Within = {}): Grant => ({
  scope,
  children: true,
  permissions: builtInRoles.get(role)?.permissions ?? new Set(),
  resources: "all",
});

export const adminGrants: readonly Grant[] = [grantOf("_account_admin")];

type AssignTo = { readonly accountId: Uuid; readonly userId: Uuid; readonly role: BuiltIn; readonly at: number };

/** The row that gives a person a role over all that lies in the scope. */
export async function assignRole(
  db: Db,
  { accountId, userId, role, at }: AssignTo,
  within: Within = {},
): Promise<void> {
  const id = randomUUIDv7();
  const level = within.projectIdentifier ? "project" : within.orgIdentifier ? "organization" : "account";
  const group = level === "project" ? "_all_project_level_resources" : "_all_resources_including_child_scopes";
  await db.query(
    `insert into role_assignments
       (account_id, id, org_identifier, project_identifier, identifier, principal_type, principal_id, principal_identifier,
        principal_level, role_identifier, role_level, resource_group_identifier, disabled, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'USER', $6, $7, 'account', $8, $9, $10, false, $11, $11)`,
    [
      accountId,
      id,
      within.orgIdentifier ?? null,
      within.projectIdentifier ?? null,
      `role_assignment_${id.replaceAll("-", "")}`,
      userId,
      toWire(userId),
      role,
      level,
      group,
      at,
    ],
  );
}

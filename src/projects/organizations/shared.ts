/** Shared by the operations on organizations. */
import type { Authorize } from "../../access/index.ts";
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Db } from "../../platform/db/db.ts";
import type { EmptyScope } from "../empty-scope.ts";
import type { Organization } from "./organization.ts";

export type OrganizationDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly emptyScope: EmptyScope;
};

export const auditEntry = (verb: "create" | "update" | "delete", orgIdentifier: string) => ({
  operation: `organization.${verb}` as const,
  resourceType: "ORGANIZATION",
  resourceId: orgIdentifier,
  scope: { orgIdentifier },
});

export const staleVersion = (now: Organization, version: number | undefined): Error =>
  commonProblem("core.stale_version", ["Organization", now.identifier, String(now.version), String(version)]);

import { z } from "zod";
import type { Place } from "../../core/reference.ts";
import { scopeIdentifier } from "../../platform/document/fields.ts";
import { epochMs } from "../../platform/http/response/shapes.ts";
import { PRINCIPAL_TYPES, type Assignment, type NewAssignment } from "./assignment.ts";
import type { AssignmentFilter } from "../store/assignments.ts";

const level = z.enum(["account", "organization", "project"]);
const identifier = z.string().min(1).max(128);
const filterTexts = z.array(z.string().max(128)).max(1_000).nullish();

export const assignmentBody = z.strictObject({
  identifier: scopeIdentifier.nullish(),
  resourceGroupIdentifier: identifier,
  roleIdentifier: identifier.nullish(),
  roleReference: z.strictObject({ identifier, scopeLevel: level.nullish() }).nullish(),
  principal: z.strictObject({
    identifier,
    type: z.enum(PRINCIPAL_TYPES),
    scopeLevel: level.nullish(),
    name: z.string().max(256).nullish(),
    email: z.string().max(320).nullish(),
    uniqueId: z.string().max(256).nullish(),
  }),
  disabled: z.boolean().nullish(),
  managed: z.literal(false).nullish(),
});
type Body = z.output<typeof assignmentBody>;
export const manyBody = z.strictObject({ roleAssignments: z.array(assignmentBody).min(1).max(100) });
export const validateBody = z.strictObject({
  roleAssignment: assignmentBody,
  validatePrincipal: z.boolean().nullish(),
  validateRole: z.boolean().nullish(),
  validateResourceGroup: z.boolean().nullish(),
});

export const readAssignment = (place: Place, body: Body): NewAssignment => ({
  ...place,
  identifier: body.identifier ?? undefined,
  principal: {
    type: body.principal.type,
    identifier: body.principal.identifier,
    level: body.principal.scopeLevel ?? undefined,
  },
  role: {
    identifier: body.roleReference?.identifier ?? body.roleIdentifier ?? "",
    level: body.roleReference?.scopeLevel ?? undefined,
  },
  resourceGroup: body.resourceGroupIdentifier,
  disabled: body.disabled ?? false,
});

const inner = (assignment: Assignment) => ({
  identifier: assignment.identifier,
  resourceGroupIdentifier: assignment.resourceGroup.identifier,
  roleIdentifier: assignment.role.identifier,
  roleReference: { identifier: assignment.role.identifier, scopeLevel: assignment.role.level },
  principal: {
    identifier: assignment.principal.identifier,
    type: assignment.principal.type,
    scopeLevel: assignment.principal.level,
  },
  disabled: assignment.disabled,
  managed: false,
});

const innerShape = z.strictObject({
  identifier: z.string(),
  resourceGroupIdentifier: z.string(),
  roleIdentifier: z.string(),
  roleReference: z.strictObject({ identifier: z.string(), scopeLevel: level }),
  principal: z.strictObject({ identifier: z.string(), type: z.enum(PRINCIPAL_TYPES), scopeLevel: level }),
  disabled: z.boolean(),
  managed: z.literal(false),
});

export const scopeShape = z.strictObject({
  accountIdentifier: z.string(),
  orgIdentifier: z.string().nullable(),
  projectIdentifier: z.string().nullable(),
});
export const scopeResponse = (accountIdentifier: string, { orgIdentifier, projectIdentifier }: Place) => ({
  accountIdentifier,
  orgIdentifier,
  projectIdentifier,
});

export const assignmentResponse = (accountIdentifier: string, assignment: Assignment) => ({
  roleAssignment: inner(assignment),
  scope: scopeResponse(accountIdentifier, assignment),
  createdAt: assignment.createdAt,
  lastModifiedAt: assignment.updatedAt,
});
export const assignmentShape = z.strictObject({
  roleAssignment: innerShape,
  scope: scopeShape,
  createdAt: epochMs,
  lastModifiedAt: epochMs,
});

export const filterBody = z.strictObject({
  resourceGroupFilter: filterTexts,
  roleFilter: filterTexts,
  principalTypeFilter: z.array(z.enum(PRINCIPAL_TYPES)).max(3).nullish(),
  principalFilter: z
    .array(z.strictObject({ identifier, type: z.enum(PRINCIPAL_TYPES), scopeLevel: level.nullish() }))
    .max(1_000)
    .nullish(),
  platformManagedFilter: z.array(z.boolean()).max(2).nullish(),
  disabledFilter: z.array(z.boolean()).max(2).nullish(),
});

const some = <T>(list: readonly T[] | null | undefined): readonly T[] | undefined =>
  list && list.length > 0 ? list : undefined;

/** An empty list does not filter, as an omitted one. Without a filter for managed assignments. */
export function filterOf(body: z.output<typeof filterBody>): AssignmentFilter {
  const disabled = some(body.disabledFilter);
  const managed = some(body.platformManagedFilter);
  return {
    roles: managed && !managed.includes(false) ? [] : some(body.roleFilter),
    resourceGroups: some(body.resourceGroupFilter),
    principalTypes: some(body.principalTypeFilter),
    principals: some(body.principalFilter),
    disabled: disabled?.length === 1 ? disabled[0] : undefined,
  };
}

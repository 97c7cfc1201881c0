import { problemsOf } from "../core/problem.ts";

export const problems = {
  "access.not_permitted": [403, "NG_ACCESS_DENIED", "Missing permission %s."],
  "access.beyond_own": [403, "NG_ACCESS_DENIED", "You cannot grant %s: you do not hold it in this scope."],
  "access.other_scope": [400, "INVALID_REQUEST", "'%s' in the body [%s] is not the one in the query [%s]."],
  "access.no_group": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "User group [%s] not found."],
  "access.everybody": [
    400,
    "UNSUPPORTED_OPERATION_EXCEPTION",
    "User group [%s] contains all users of its scope. Its members cannot be listed or changed.",
  ],
  "access.no_person": [400, "USER_DOES_NOT_EXIST", "There is no user [%s] in the account."],
  "access.externally_managed": [
    400,
    "INVALID_REQUEST",
    "User group [%s] is managed by an identity provider and can only be changed there.",
  ],
  "access.reserved_identifier": [
    400,
    "INVALID_REQUEST",
    "Identifier [%s] is reserved: identifiers that begin with _ belong to the platform.",
  ],
  "access.duplicate": [400, "DUPLICATE_FIELD", "A %s with identifier [%s] already exists in this scope."],
  "access.name_taken": [400, "DUPLICATE_FIELD", "A group [%s] that an identity provider manages already exists."],
  "access.other_identifier": [
    400,
    "INVALID_REQUEST",
    "identifier in the document [%s] is not the one in the path [%s].",
  ],
  "access.no_role": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Role [%s] not found."],
  "access.no_resource_group": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Resource group [%s] not found."],
  "access.no_assignment": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Role assignment [%s] not found."],
  "access.cannot_assign": [400, "INVALID_REQUEST", "%s"],
  "access.assigned_already": [
    400,
    "DUPLICATE_FIELD",
    "The identifier is taken, or the principal already has this role over this resource group.",
  ],
  "access.too_many_assignments": [
    400,
    "USAGE_LIMITS_EXCEEDED",
    "This scope can have at most %s role assignments. Assign roles to user groups instead of single principals.",
  ],
  "access.too_many_entries": [
    400,
    "USAGE_LIMITS_EXCEEDED",
    "The resource groups of a scope can have at most %s included scopes and identifiers together.",
  ],
  "access.managed": [400, "INVALID_REQUEST", "'managed' is read-only."],
  "access.no_permission": [400, "INVALID_REQUEST", "Permission [%s] does not exist."],
  "access.other_type": [400, "INVALID_REQUEST", "Permission [%s] is about resources of the type %s, not %s."],
  "access.no_type": [400, "INVALID_REQUEST", "resourceIdentifier needs resourceType or permission beside it."],
  "access.half_principal": [400, "INVALID_REQUEST", "principalType and principalIdentifier are given together or not."],
  "access.no_service_account": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Service account [%s] not found."],
  "access.wrong_level": [400, "INVALID_REQUEST", "Permission [%s] is not available at: %s."],
  "access.level_above": [400, "INVALID_REQUEST", "Role [%s] cannot be assigned above its own scope."],
  "access.outside": [
    400,
    "INVALID_REQUEST",
    "A resource group covers only resources of its own scope: [%s] [%s] is outside.",
  ],
  "access.dynamic_scope": [
    400,
    "INVALID_REQUEST",
    "Cannot provide specific identifiers in resource filter for a dynamic scope",
  ],
  "access.last_administrator": [
    400,
    "INVALID_REQUEST",
    "At least one active user must remain Account Admin over all resources including child scopes.",
  ],
} as const;

export const problem = problemsOf(problems);

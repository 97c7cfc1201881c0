import { problemsOf } from "../core/problem.ts";

export const problems = {
  "access.not_permitted": [403, "NG_ACCESS_DENIED", "Missing permission %s."],
  "access.beyond_own": [403, "NG_ACCESS_DENIED", "Nobody can give more than they hold: %s is not yours there."],
  "access.other_scope": [400, "INVALID_REQUEST", "'%s' in the body [%s] is not the one in the query [%s]."],
  "access.no_group": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "User group [%s] not found."],
  "access.everybody": [
    400,
    "UNSUPPORTED_OPERATION_EXCEPTION",
    "User group [%s] has everybody of its scope; its members are not listed one by one.",
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
    "Identifiers that begin with _ are those of the platform: [%s] cannot be made or changed.",
  ],
  "access.duplicate": [400, "DUPLICATE_FIELD", "A %s with identifier [%s] already exists in this scope."],
  "access.name_taken": [400, "DUPLICATE_FIELD", "A group [%s] that an identity provider keeps already exists."],
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
    "The same role is assigned to the same principal over the same resource group already, or the identifier is taken.",
  ],
  "access.managed": [
    400,
    "INVALID_REQUEST",
    "managed is true for what the platform assigns by itself; nobody else can say so.",
  ],
  "access.no_permission": [400, "INVALID_REQUEST", "There is no permission [%s]."],
  "access.wrong_level": [400, "INVALID_REQUEST", "Permission [%s] cannot be held at: %s."],
  "access.level_above": [400, "INVALID_REQUEST", "Role [%s] cannot be assigned above the scope that it lives in."],
  "access.outside": [
    400,
    "INVALID_REQUEST",
    "A resource group reaches no further than its own scope: [%s] [%s] lies outside.",
  ],
  "access.dynamic_scope": [
    400,
    "INVALID_REQUEST",
    "Cannot provide specific identifiers in resource filter for a dynamic scope",
  ],
  "access.last_administrator": [
    400,
    "INVALID_REQUEST",
    "At least one active person has to remain Account Admin over all resources including child scopes.",
  ],
} as const;

export const problem = problemsOf(problems);

import { problemsOf } from "../core/problem.ts";

export const problems = {
  "project.duplicate": [400, "DUPLICATE_FIELD", "A project with identifier [%s] already exists in organization [%s]."],
  "project.duplicate_name": [400, "DUPLICATE_FIELD", "An application with name [%s] already exists."],
  "project.duplicate_organization": [
    400,
    "DUPLICATE_FIELD",
    "An organization with identifier [%s] already exists in this account.",
  ],
  "project.kept_organization": [
    402,
    "DELETE_NOT_ALLOWED",
    "Organization [%s] is managed by the platform and cannot be deleted.",
  ],
  "project.other_identifier": [
    400,
    "INVALID_REQUEST",
    "identifier in the document [%s] is not the one in the path [%s].",
  ],
  "project.no_organization": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Organization with identifier [%s] not found."],
  "project.not_found": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Project with identifier [%s] in organization [%s] not found.",
  ],
  "project.other_organization": [
    400,
    "INVALID_REQUEST",
    "orgIdentifier in the document [%s] is not the one in the query [%s].",
  ],
  "project.without_organization": [400, "INVALID_REQUEST", "projectIdentifier needs orgIdentifier beside it."],
  "project.no_application_name": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Application [%s] does not exist (User not authorized).",
  ],
  "project.cannot_be_true": [400, "UNSUPPORTED_OPERATION_EXCEPTION", "%s must be false: Railhead does not support it."],
  // A missing application and an invisible one get the same answer.
  "project.no_application": [403, "ACCESS_DENIED", "User not authorized."],
} as const;

export const problem = problemsOf(problems);

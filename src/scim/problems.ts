import { problemsOf } from "../core/problem.ts";

/** The wire code is the `scimType` of RFC 7644 if there is one. */
export const problems = {
  "scim.invalid_filter": [400, "invalidFilter", "The filter cannot be used: %s."],
  "scim.invalid_path": [400, "invalidPath", "The path cannot be used: %s."],
  "scim.invalid_sort": [400, "invalidValue", "sortBy cannot be used: %s."],
  "scim.no_target": [400, "noTarget", "%s matches no value of the resource."],
  "scim.invalid_syntax": [400, "invalidSyntax", "%s"],
  "scim.invalid_value": [400, "invalidValue", "%s"],
  "scim.mutability": [400, "mutability", "%s cannot be changed."],
  "scim.too_much_work": [
    413,
    "tooMany",
    "The operations visit too many values. Put values that are added into one operation, or send several requests.",
  ],
  "scim.uniqueness": [409, "uniqueness", "%s"],
  "scim.stale_version": [412, "INVALID_REQUEST", "The resource has changed since it was read."],
  "scim.is_there": [412, "INVALID_REQUEST", "The resource's version matches If-None-Match."],
  "scim.no_filter": [403, "INVALID_REQUEST", "Discovery endpoints do not support filters."],
  "scim.no_resource": [404, "RESOURCE_NOT_FOUND", "No %s has the id [%s]."],
  "scim.not_built": [501, "UNSUPPORTED_OPERATION_EXCEPTION", "%s is not supported."],
} as const;

export const problem = problemsOf(problems);

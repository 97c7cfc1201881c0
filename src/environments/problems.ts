import { problemsOf } from "../core/problem.ts";

export const problems = {
  "environment.duplicate": [
    400,
    "DUPLICATE_FIELD",
    "An environment with identifier [%s] already exists in this scope.",
  ],
  "environment.not_found": [404, "ENTITY_NOT_FOUND", "Environment with identifier [%s] not found."],
  "environment.no_project": [404, "ENTITY_NOT_FOUND", "Project with identifier [%s] not found."],
  "environment.no_such_id": [404, "ENTITY_NOT_FOUND", "Environment with id [%s] not found."],
  "service.duplicate": [400, "DUPLICATE_FIELD", "A service with identifier [%s] already exists in this scope."],
  "service.not_found": [404, "ENTITY_NOT_FOUND", "Service with identifier [%s] not found."],
  "service.no_such_id": [404, "ENTITY_NOT_FOUND", "Service with id [%s] not found."],
  "service.no_such_name": [404, "ENTITY_NOT_FOUND", "Service with name [%s] not found in the application [%s]."],
  "service.bad_filter": [400, "INVALID_ARGUMENT", "The filters of services are not valid: %s."],
  "environment.disagreement": [400, "INVALID_REQUEST", "The request contradicts itself: %s."],
} as const;

export const problem = problemsOf(problems);

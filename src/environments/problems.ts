import { problemsOf } from "../core/problem.ts";

export const problems = {
  "environment.duplicate": [
    400,
    "DUPLICATE_FIELD",
    "An environment with identifier [%s] already exists in this scope.",
  ],
  "environment.not_found": [404, "ENTITY_NOT_FOUND", "Environment with identifier [%s] not found."],
  "service.duplicate": [400, "DUPLICATE_FIELD", "A service with identifier [%s] already exists in this scope."],
  "service.not_found": [404, "ENTITY_NOT_FOUND", "Service with identifier [%s] not found."],
  "environment.disagreement": [400, "INVALID_REQUEST", "The request contradicts itself: %s."],
} as const;

export const problem = problemsOf(problems);

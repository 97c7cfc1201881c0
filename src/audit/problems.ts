import { problemsOf } from "../core/problem.ts";

export const problems = {
  "audit.not_found": [404, "RESOURCE_NOT_FOUND", "Audit entry with id [%s] not found."],
} as const;

export const problem = problemsOf(problems);

import { problemsOf } from "../core/problem.ts";

export const problems = {
  "connector.duplicate": [400, "DUPLICATE_FIELD", "A connector with identifier [%s] already exists in this scope."],
  "connector.not_found": [404, "CONNECTOR_NOT_FOUND_EXCEPTION", "Connector with identifier [%s] not found."],
} as const;

export const problem = problemsOf(problems);

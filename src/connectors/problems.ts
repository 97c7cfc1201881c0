import { problemsOf } from "../core/problem.ts";

export const problems = {
  "connector.duplicate": [400, "DUPLICATE_FIELD", "A connector with identifier [%s] already exists in this scope."],
  "connector.not_found": [404, "CONNECTOR_NOT_FOUND_EXCEPTION", "Connector with identifier [%s] not found."],
  "connector.other_type": [
    400,
    "UPDATE_NOT_ALLOWED",
    "Connector [%s] has the type %s, which cannot become %s; create another connector.",
  ],
  "connector.other_scope": [400, "INVALID_REQUEST", "%s in the connector [%s] is not the one in the query [%s]."],
  "connector.no_secret": [400, "SECRET_NOT_FOUND", "%s: %s"],
} as const;

export const problem = problemsOf(problems);

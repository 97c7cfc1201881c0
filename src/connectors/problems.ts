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
  // 403: the tester or the last author lacks a permission.
  "connector.secret_refused": [
    403,
    "NG_ACCESS_DENIED",
    "Connector [%s] is not tested: %s, %s, may not use its secret '%s' (core_secret_access is missing).",
  ],
  "connector.account_inactive": [
    403,
    "NG_ACCESS_DENIED",
    "Connector [%s] is not tested: the account of %s, %s, is %s. A person who may use its secrets can save it again.",
  ],
  "connector.test_outdated": [
    400,
    "INVALID_REQUEST",
    "Connector [%s] or the server was changed after this test started: test it again.",
  ],
  "connector.other_delegate": [
    400,
    "INVALID_REQUEST",
    "Connector [%s] was changed after the execution started: its identity is now that of other delegates. Run again.",
  ],
  "connector.no_secret": [400, "SECRET_NOT_FOUND", "%s: %s"],
} as const;

export const problem = problemsOf(problems);

import { problemsOf } from "../core/problem.ts";

export const problems = {
  // Clients match "No secret exists". It is also the answer for another type and for a secret that the actor may not
  // see.
  "secret.not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "No secret exists with the %s [%s]."],
  "secret.bad_reference": [400, "INVALID_REQUEST", "No secret exists with the reference [%s] for %s."],
  // 403: a step that is refused its secrets fails with the type Authorization.
  "secret.deleted": [403, "NG_ACCESS_DENIED", "Secret '%s' was deleted after the execution started."],
  "secret.recreated": [403, "NG_ACCESS_DENIED", "Secret '%s' was deleted and created again. Save the %s again."],
  "secret.taking_refused": [
    403,
    "NG_ACCESS_DENIED",
    "The secret [%s] may not be used here: core_secret_access is missing.",
  ],
  "secret.unsupported_login": [400, "INVALID_REQUEST", "%s is not supported in SSH credentials: %s."],
  "secret.bad_user_name": [
    400,
    "INVALID_REQUEST",
    "The userName of the SSH credential [%s] %s. Save the credential with another one.",
  ],
  "secret.duplicate_identifier": [
    400,
    "DUPLICATE_FIELD",
    "A secret with identifier [%s] already exists in this scope.",
  ],
  "secret.duplicate_name": [400, "DUPLICATE_FIELD", "A secret named [%s] already exists in this account."],
  "secret.no_content": [400, "INVALID_REQUEST", "The secret [%s] has no content: %s."],
  "secret.no_part": [400, "INVALID_REQUEST", "The form has no part '%s'."],
  "secret.not_text": [400, "INVALID_REQUEST", "The secret [%s] is a file. Use a text here."],
  "secret.too_large": [402, "FILE_SIZE_EXCEEDS_LIMIT", "The content of the secret [%s] is larger than %s bytes."],
  "secret.unsupported_type": [400, "INVALID_REQUEST", "Secrets of the type %s are not supported."],
  "secret.no_references": [400, "INVALID_REQUEST", "secretReference is not supported. Send the value."],
  "secret.input_missing": [400, "INVALID_REQUEST", "%s is required for the secret type %s."],
  "secret.bad_input": [400, "INVALID_REQUEST", "%s does not belong to the secret type %s."],
  "secret.other_manager": [
    400,
    "INVALID_REQUEST",
    "The secret [%s] stays with its secret manager; it cannot move to another one.",
  ],
  "secret.other_scope": [400, "INVALID_REQUEST", "%s in the document [%s] is not the one in the query [%s]."],
  "secret.other_identifier": [
    400,
    "INVALID_REQUEST",
    "The identifier of a secret cannot change: the address names [%s], the document [%s].",
  ],
  "secret.replaced": [503, "UNEXPECTED", "The secret [%s] was replaced while it was read. Try again."],
  "secret.unreadable": [
    500,
    "UNEXPECTED",
    "The secret [%s] cannot be opened: it was sealed with another key, or its row was changed. The server's log has details.",
  ],
  "secret.no_root_key": [
    503,
    "UNEXPECTED",
    "The secret [%s] cannot be sealed: this server does not have the root key %s of the account.",
  ],
  "secret.manager_failed": [
    503,
    "SECRET_MANAGEMENT_ERROR",
    "The secret [%s] cannot be sealed or opened: its secret manager failed. The server's log has the reason.",
  ],
  "secret.manager_busy": [
    503,
    "SECRET_MANAGEMENT_ERROR",
    "Too many secrets wait for the program of their secret manager. Try again in a few seconds.",
  ],
  "secret.manager_useless": [
    402,
    "SECRET_MANAGEMENT_ERROR",
    "The secret manager [%s] was not created: it does not return the key that it wrapped. The server's log has the reason.",
  ],
  "secret.beyond_reach": [
    403,
    "USER_NOT_AUTHORIZED_DUE_TO_USAGE_RESTRICTIONS",
    "The usage scope covers %s, where you lack core_environment_access. Remove these environments from the scope.",
  ],
  "secret.duplicate_manager": [400, "DUPLICATE_FIELD", "A secret manager with the %s [%s] already exists."],
  "secret.manager_in_use": [
    402,
    "ENTITY_REFERENCE_EXCEPTION",
    "The secret manager [%s] cannot be deleted: it keeps the keys of %s secrets. Delete those first.",
  ],
  "secret.built_in_manager": [402, "INVALID_REQUEST", "The built-in secret manager cannot be deleted."],
  "secret.other_kind": [
    400,
    "INVALID_REQUEST",
    "The type and the spec of the secret manager [%s] cannot change, because its secrets are sealed with them.",
  ],
  "secret.other_manager_identifier": [
    400,
    "INVALID_REQUEST",
    "The identifier of a secret manager cannot change: the address names [%s], the document [%s].",
  ],
  "secret.no_manager": [404, "SECRET_MANAGEMENT_ERROR", "No secret manager exists with the %s [%s]."],
  "secret.bad_scope": [400, "INVALID_USAGE_RESTRICTION", "The usage scope is wrong: %s."],
  "secret.beyond_manager": [
    400,
    "INVALID_USAGE_RESTRICTION",
    "The usage scope goes beyond that of the secret manager [%s]: %s.",
  ],
  "secret.use_refused": [
    403,
    "USER_NOT_AUTHORIZED_DUE_TO_USAGE_RESTRICTIONS",
    "The secret [%s] may not be used here: %s.",
  ],
} as const;

export const problem = problemsOf(problems);

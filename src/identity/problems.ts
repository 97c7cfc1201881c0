import { problemsOf } from "../core/problem.ts";

export const problems = {
  "identity.no_user": [404, "USER_DOES_NOT_EXIST", "User does not exist."],
  "identity.access_changed": [
    403,
    "NG_ACCESS_DENIED",
    "A permission that this request uses was withdrawn while it was handled. Send it again to see which one.",
  ],
  "identity.no_person": [400, "INVALID_REQUEST", "The credential does not belong to a user."],
  "identity.taken": [400, "DUPLICATE_FIELD", "A user with e-mail address or userName [%s] already exists."],
  "identity.bad_email": [400, "INVALID_ARGUMENT", "[%s] is not an e-mail address in ASCII, such as ada@example.com."],
  "identity.bad_name": [
    400,
    "INVALID_ARGUMENT",
    "The %s must have 1 to 256 characters, without control characters and text direction marks.",
  ],
  "identity.managed_externally": [
    402,
    "UPDATE_NOT_ALLOWED",
    "User [%s] is managed by an identity provider. Change the name there.",
  ],
  "identity.no_invitations": [
    400,
    "UNSUPPORTED_OPERATION_EXCEPTION",
    "Invitations are not supported: no mail is sent. Create users with POST /ng/api/user/users, createUser or SCIM.",
  ],
  "identity.token_expired": [401, "EXPIRED_TOKEN", "Token has expired."],
  "identity.token_not_yet": [401, "INVALID_TOKEN", "Token is not valid yet."],
  "identity.personal_key_scope": [
    400,
    "INVALID_REQUEST",
    "API keys of users belong to the account. Omit orgIdentifier and projectIdentifier.",
  ],
  "identity.no_parent": [
    400,
    "INVALID_REQUEST",
    "parentIdentifier is required: the id of a user for USER, the identifier of a service account for SERVICE_ACCOUNT.",
  ],
  "identity.not_your_key": [
    403,
    "ACCESS_DENIED",
    "Only the user can create API keys and tokens of a user. Others can list and delete them.",
  ],
  "service_account.not_found": [404, "ENTITY_NOT_FOUND", "Service account with identifier [%s] not found."],
  "service_account.duplicate": [
    400,
    "DUPLICATE_FIELD",
    "A service account with identifier [%s] already exists in this scope.",
  ],
  "service_account.too_many": [400, "USAGE_LIMITS_EXCEEDED", "A scope can have at most %s service accounts."],
  "api_key.not_found": [404, "ENTITY_NOT_FOUND", "API key with identifier [%s] not found."],
  "api_key.duplicate": [
    400,
    "DUPLICATE_FIELD",
    "An API key with identifier [%s] already exists for this user or service account.",
  ],
  "api_key.too_many": [400, "USAGE_LIMITS_EXCEEDED", "A user or service account can have at most %s API keys."],
  "token.not_found": [404, "ENTITY_NOT_FOUND", "Token with identifier [%s] not found."],
  "token.duplicate": [400, "DUPLICATE_FIELD", "A token with identifier [%s] already exists in this API key."],
  "token.too_many": [400, "USAGE_LIMITS_EXCEEDED", "An API key can have at most %s tokens. Delete expired tokens."],
  "token.bad_period": [400, "INVALID_REQUEST", "%s %s."],
  "token.expired": [402, "INVALID_REQUEST", "Token [%s] has expired and cannot be renewed. Create another one."],
  "token.rotated": [402, "INVALID_REQUEST", "Token [%s] has been rotated already. Rotate [%s] instead."],
  "token.overlap_too_long": [400, "INVALID_REQUEST", "rotateTimestamp may be at most 90 days in the future."],
  "identity.disagreement": [400, "INVALID_REQUEST", "The request contradicts itself: %s."],
  "identity.wrong_root_key": [
    500,
    "UNEXPECTED",
    "This database is sealed under %s; the server was given the root key %s. Set RAILHEAD_ROOT_KEY, RAILHEAD_ROOT_KEY_FILE or RAILHEAD_ROOT_KEY_COMMAND to the key that the database uses.",
  ],
} as const;

export const problem = problemsOf(problems);

/** Checks that the body and the address agree. Throws `identity.disagreement`. */
export function agree(field: string, inBody: string, inAddress: string): void {
  if (inBody === inAddress) return;
  const [here, there] = [inBody, inAddress].map((text) => text.slice(0, 128));
  throw problem("identity.disagreement", [`${field} is ${here} in the body and ${there} in the address`]);
}

/**
 * Checks the identifier of the body. Called after the permission check, so that a refused caller gets that error first.
 */
export const sameIdentifier = (fields: { readonly identifier: string }, inPath: string): void =>
  agree("identifier", fields.identifier, inPath);

import { problemsOf } from "../core/problem.ts";

export const problems = {
  "identity.no_user": [404, "USER_DOES_NOT_EXIST", "User does not exist."],
  "identity.no_person": [400, "INVALID_REQUEST", "The credential is not a person's."],
  "identity.taken": [400, "DUPLICATE_FIELD", "A user with e-mail address or userName [%s] already exists."],
  "identity.bad_email": [400, "INVALID_ARGUMENT", "[%s] is no e-mail address in ASCII, as in ada@example.com."],
  "identity.bad_name": [
    400,
    "INVALID_ARGUMENT",
    "The %s must hold 1 to 256 characters, without control characters and marks that turn the direction of text.",
  ],
  "identity.managed_externally": [
    402,
    "UPDATE_NOT_ALLOWED",
    "User [%s] is looked after by an identity provider: change the name there.",
  ],
  "identity.no_invitations": [
    400,
    "UNSUPPORTED_OPERATION_EXCEPTION",
    "Nobody is invited: no mail is sent. Make people with POST /ng/api/user/users, createUser or SCIM.",
  ],
  "identity.token_expired": [401, "EXPIRED_TOKEN", "Token has expired."],
  "identity.token_not_yet": [401, "INVALID_TOKEN", "Token is not valid yet."],
  "identity.personal_key_scope": [
    400,
    "INVALID_REQUEST",
    "Keys of persons belong to the account: leave orgIdentifier and projectIdentifier out.",
  ],
  "identity.no_parent": [
    400,
    "INVALID_REQUEST",
    "parentIdentifier is required: the id of a person for the type USER, the identifier of a service account for SERVICE_ACCOUNT.",
  ],
  "identity.not_your_key": [
    403,
    "ACCESS_DENIED",
    "Keys and tokens of a person are made by that person alone. Others may look at them and end them.",
  ],
  "service_account.not_found": [404, "ENTITY_NOT_FOUND", "Service account with identifier [%s] not found."],
  "service_account.duplicate": [
    400,
    "DUPLICATE_FIELD",
    "A service account with identifier [%s] already exists in this scope.",
  ],
  "service_account.too_many": [400, "USAGE_LIMITS_EXCEEDED", "A scope has %s service accounts at most."],
  "api_key.not_found": [404, "ENTITY_NOT_FOUND", "API key with identifier [%s] not found."],
  "api_key.duplicate": [400, "DUPLICATE_FIELD", "An API key with identifier [%s] already exists here."],
  "api_key.too_many": [400, "USAGE_LIMITS_EXCEEDED", "A person or service account has %s API keys at most."],
  "token.not_found": [404, "ENTITY_NOT_FOUND", "Token with identifier [%s] not found."],
  "token.duplicate": [400, "DUPLICATE_FIELD", "A token with identifier [%s] already exists in this API key."],
  "token.too_many": [400, "USAGE_LIMITS_EXCEEDED", "An API key has %s tokens at most: delete those that have ended."],
  "token.bad_period": [400, "INVALID_REQUEST", "%s %s."],
  "token.expired": [402, "INVALID_REQUEST", "Token [%s] has expired, and does not come back: make another one."],
  "token.rotated": [402, "INVALID_REQUEST", "Token [%s] has been replaced by a rotation: rotate [%s] instead."],
  "token.overlap_too_long": [
    400,
    "INVALID_REQUEST",
    "rotateTimestamp may be 90 days away at most: the old token must not live on unnoticed.",
  ],
  "identity.disagreement": [400, "INVALID_REQUEST", "The request contradicts itself: %s."],
  "identity.wrong_root_key": [
    500,
    "UNEXPECTED",
    "This database is sealed under %s; the server was given the root key %s. Set RAILHEAD_ROOT_KEY, RAILHEAD_ROOT_KEY_FILE or RAILHEAD_ROOT_KEY_COMMAND to the key that the database uses.",
  ],
} as const;

export const problem = problemsOf(problems);

/** What body and address both say has to be the same. Throws `identity.disagreement`. */
export function agree(field: string, inBody: string, inAddress: string): void {
  if (inBody === inAddress) return;
  const [here, there] = [inBody, inAddress].map((text) => text.slice(0, 128));
  throw problem("identity.disagreement", [`${field} is ${here} in the body and ${there} in the address`]);
}

/** Asked after the permission: whoever may not change a thing is told that first. */
export const sameIdentifier = (fields: { readonly identifier: string }, inPath: string): void =>
  agree("identifier", fields.identifier, inPath);

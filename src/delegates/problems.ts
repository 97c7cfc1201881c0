import { problemsOf } from "../core/problem.ts";

export const problems = {
  "delegate.token_name_taken": [400, "DUPLICATE_FIELD", "A delegate token named [%s] already exists."],
  "delegate.bad_token_name": [
    400,
    "INVALID_ARGUMENT",
    "tokenName must hold 1 to 128 letters, digits, spaces, _, - and . only.",
  ],
  "delegate.not_found": [404, "RESOURCE_NOT_FOUND", "Delegate with id or name [%s] not found."],
  "delegate.too_many_tags": [402, "USAGE_LIMITS_EXCEEDED", "A delegate has %s tags at most."],
  "delegate.other_account": [403, "ACCESS_DENIED", "User not authorized."],
  "delegate.bad_revoke_after": [
    400,
    "INVALID_ARGUMENT",
    "revokeAfter takes a moment to come, in epoch milliseconds: when the token ends by itself.",
  ],
  "delegate.no_token": [404, "RESOURCE_NOT_FOUND", "Delegate token with name [%s] not found."],
  "delegate.token_live": [402, "DELETE_NOT_ALLOWED", "Delegate token [%s] is active; revoke it first."],
  "delegate.token_ended": [401, "INVALID_TOKEN", "The delegate's token was revoked, or its time is up."],
  "delegate.deleted": [
    403,
    "ACCESS_DENIED",
    "Delegate [%s] was rejected or deleted. Start it with a new work folder to register it anew.",
  ],
  "delegate.not_waiting": [402, "INVALID_REQUEST", "Delegate [%s] does not wait for approval; delete it instead."],
  "delegate.name_reserved": [
    400,
    "DUPLICATE_DELEGATE_EXCEPTION",
    "Delegate [%s] is registered from another work folder, and delegates need approval. Use another name, or delete that delegate.",
  ],
  "delegate.too_many_waiting": [
    400,
    "INVALID_REQUEST",
    "%s delegates of this token wait for approval already. Approve or reject some of them first.",
  ],
  "delegate.too_many": [
    400,
    "INVALID_REQUEST",
    "This token has registered %s delegates. Delete those that are gone, or use another token.",
  ],
  "delegate.name_taken": [
    400,
    "DUPLICATE_DELEGATE_EXCEPTION",
    "Another delegate uses the name [%s]; give this one a name of its own.",
  ],
  "delegate.other_protocol": [
    400,
    "INVALID_REQUEST",
    "The delegate speaks the versions %s of the protocol, this server %s. Install a version of Railhead whose versions overlap.",
  ],
  "delegate.secret_too_large": [
    402,
    "INVALID_REQUEST",
    "The secret [%s] has %s bytes, and an environment variable takes %s at most: use secrets.getAsFile.",
  ],
  "delegate.illegal_message": [400, "INVALID_REQUEST", "The delegate sent a message that is not allowed here: %s."],
} as const;

export const problem = problemsOf(problems);

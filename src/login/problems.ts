import { problemsOf } from "../core/problem.ts";

export const problems = {
  // The same answer for a wrong password, an unknown e-mail and a deactivated user.
  "login.refused": [401, "INVALID_CREDENTIAL", "The e-mail or the password is wrong."],
  "login.blocked": [429, "TOO_MANY_REQUESTS", "Too many failed attempts to sign in. Try again in %s seconds."],
  "login.busy": [503, "UNEXPECTED", "Too many sign-ins run at this moment. Try again in a few seconds."],
  "login.no_session": [401, "INVALID_TOKEN", "The session is missing, unknown or expired. Sign in again."],
  "login.no_csrf": [
    403,
    "ACCESS_DENIED",
    "The header x-csrf-token must contain the session's anti-forgery token. GET /auth/session returns it.",
  ],
  "login.other_origin": [
    403,
    "ACCESS_DENIED",
    "The request comes from a page of another site. Only pages of this server may use a session.",
  ],
  "login.must_change": [
    403,
    "PASSWORD_EXPIRED",
    "Your password is a one-time password. Change it first, with POST /auth/password.",
  ],
  "login.wrong_current": [400, "INVALID_REQUEST", "The current password is wrong."],
  "login.no_password": [
    400,
    "INVALID_REQUEST",
    "You have no password to change: you sign in through the identity provider.",
  ],
  "login.weak_password": [400, "INVALID_REQUEST", "The new password %s."],
  "login.only_json": [400, "INVALID_REQUEST", "The body must be JSON, with content-type: application/json."],
  "login.own_password": [
    400,
    "INVALID_REQUEST",
    "You cannot set a one-time password for yourself. Change your password with POST /auth/password.",
  ],
  "login.can_sign_in": [
    402,
    "INVALID_REQUEST",
    "User [%s] can sign in already. Invitations are for users without a password and without a linked identity.",
  ],
  "login.no_invitation": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "The user has no invitation."],
  // The same answer for an unknown, used, revoked, replaced and expired one.
  "login.bad_invitation": [
    401,
    "INVALID_CREDENTIAL",
    "The invitation is not valid: it was used, revoked or replaced, or it has expired. Ask your administrator for a new one.",
  ],
  "login.no_person": [404, "USER_DOES_NOT_EXIST", "No active user has the e-mail address '%s'."],
  "login.no_first_administrator": [
    404,
    "USER_DOES_NOT_EXIST",
    "The administrator of the first start is not active any more. Name another user with --email.",
  ],
  "login.no_user": [404, "USER_DOES_NOT_EXIST", "User does not exist."],
  "login.no_identity": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Identity does not exist."],
  // These two are only in the audit trail: single sign-on redirects the browser to a page instead.
  "login.unlinked": [401, "INVALID_CREDENTIAL", "The identity of the provider is not linked to an active user."],
  "login.identity_taken": [409, "DUPLICATE_FIELD", "The identity of the provider is linked to another user."],
  "login.last_way": [
    402,
    "DELETE_NOT_ALLOWED",
    "This identity is your only way to sign in. Set a password or link another identity first.",
  ],
  "login.no_provider": [402, "FEATURE_UNAVAILABLE", "No identity provider is configured on this server."],
  "login.no_provider_answer": [
    503,
    "UNEXPECTED",
    "The identity provider does not answer as expected. The server's log has the reason.",
  ],
  "login.not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Session does not exist, or belongs to another user."],
} as const;

export const problem = problemsOf(problems);

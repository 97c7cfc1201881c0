import { problemsOf } from "../core/problem.ts";

export const problems = {
  // The same answer for a wrong password, an unknown e-mail and a deactivated user.
  "login.refused": [401, "INVALID_CREDENTIAL", "The e-mail or the password is wrong."],
  "login.blocked": [429, "TOO_MANY_REQUESTS", "Too many failed attempts to sign in; try again in %s seconds."],
  "login.busy": [503, "UNEXPECTED", "Too many people sign in at this moment; try again in a few seconds."],
  "login.no_session": [401, "INVALID_TOKEN", "Nobody is signed in here: the session is missing, unknown or over."],
  "login.no_csrf": [
    403,
    "ACCESS_DENIED",
    "A session needs its anti-forgery token in the header x-csrf-token; GET /auth/session tells it.",
  ],
  "login.other_origin": [
    403,
    "ACCESS_DENIED",
    "Sessions are for pages of this server alone; this one comes from elsewhere.",
  ],
  "login.must_change": [
    403,
    "PASSWORD_EXPIRED",
    "The one-time password has to be changed before anything else: POST /auth/password.",
  ],
  "login.wrong_current": [400, "INVALID_REQUEST", "The current password is wrong."],
  "login.no_password": [
    400,
    "INVALID_REQUEST",
    "There is no password to change: you sign in through the identity provider.",
  ],
  "login.weak_password": [400, "INVALID_REQUEST", "The new password %s."],
  "login.only_json": [400, "INVALID_REQUEST", "The body has to be JSON, with content-type: application/json."],
  "login.own_password": [
    400,
    "INVALID_REQUEST",
    "You change your own password by POST /auth/password, with the current one.",
  ],
  "login.no_person": [404, "USER_DOES_NOT_EXIST", "Nobody who may sign in has the e-mail address '%s'."],
  "login.no_first_administrator": [
    404,
    "USER_DOES_NOT_EXIST",
    "The administrator of the first start may not sign in any more: say whom you mean with --email.",
  ],
  "login.no_user": [404, "USER_DOES_NOT_EXIST", "User does not exist."],
  "login.no_identity": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "There is no identity with this id."],
  // These two are only in the audit trail: single sign-on redirects the browser to a page instead.
  "login.unlinked": [
    401,
    "INVALID_CREDENTIAL",
    "The identity of the provider is not linked to a person who may sign in.",
  ],
  "login.identity_taken": [409, "DUPLICATE_FIELD", "The identity of the provider is linked to another person."],
  "login.last_way": [
    402,
    "DELETE_NOT_ALLOWED",
    "Nothing else signs you in: there is no password, and no other identity.",
  ],
  "login.no_provider": [402, "FEATURE_UNAVAILABLE", "No identity provider is configured here."],
  "login.no_provider_answer": [
    503,
    "UNEXPECTED",
    "The identity provider does not answer as it should; the log says why.",
  ],
  "login.not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "You have no session with this id."],
} as const;

export const problem = problemsOf(problems);

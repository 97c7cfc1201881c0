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
  "identity.no_group": [400, "INVALID_REQUEST", "No User Group exists with id [%s]."],
  "identity.wrong_root_key": [
    500,
    "UNEXPECTED",
    "This database is sealed under %s; the server was given the root key %s. Set RAILHEAD_ROOT_KEY, RAILHEAD_ROOT_KEY_FILE or RAILHEAD_ROOT_KEY_COMMAND to the key that the database uses.",
  ],
} as const;

export const problem = problemsOf(problems);

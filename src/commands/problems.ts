import { problemsOf } from "../core/problem.ts";

export const problems = {
  "command.no_database": [
    400,
    "INVALID_REQUEST",
    "There is no database in %s. Set RAILHEAD_DATA_DIR or DATABASE_URL as for the server, and start `railhead server` once.",
  ],
  "command.no_root_key": [
    400,
    "INVALID_REQUEST",
    "There is no root key in %s. Set RAILHEAD_ROOT_KEY or RAILHEAD_ROOT_KEY_FILE as for the server.",
  ],
  "command.servers_lack_key": [
    400,
    "INVALID_REQUEST",
    "Connected servers do not know the root key %s yet: %s. Restart them with this key and the previous one first.",
  ],
  "command.lacks_keys": [
    400,
    "INVALID_REQUEST",
    "Nothing was changed: %s. Finish the interrupted rotation first: run it again with the keys that it was given.",
  ],
  "command.other_schema": [
    400,
    "INVALID_REQUEST",
    "The database lacks migrations of this version (%s). Start the server of this version first.",
  ],
  "command.no_account": [400, "INVALID_REQUEST", "The database has no account yet. Start `railhead server` once."],
  "command.which_account": [
    400,
    "INVALID_REQUEST",
    "The database has %s accounts. Pass --account with one of them: %s.",
  ],
  "command.unknown_account": [400, "INVALID_REQUEST", "There is no account '%s'."],
  "command.bad_option": [400, "INVALID_REQUEST", "%s is '%s'; it takes %s."],
} as const;

export const problem = problemsOf(problems);

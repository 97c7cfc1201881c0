import { problemsOf } from "../core/problem.ts";

export const problems = {
  "identity.no_user": [404, "USER_DOES_NOT_EXIST", "User does not exist."],
  "identity.wrong_root_key": [
    500,
    "UNEXPECTED",
    "The root key does not open this database: it was sealed with another one. Set RAILHEAD_ROOT_KEY or RAILHEAD_ROOT_KEY_FILE to the key it was made with.",
  ],
} as const;

export const problem = problemsOf(problems);

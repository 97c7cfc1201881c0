import { problemsOf } from "../core/problem.ts";

export const problems = {
  "identity.not_permitted": [403, "NG_ACCESS_DENIED", "Missing permission %s."],
  "identity.no_user": [404, "USER_DOES_NOT_EXIST", "User does not exist."],
} as const;

export const problem = problemsOf(problems);

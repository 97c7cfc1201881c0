import { problemsOf } from "../core/problem.ts";

export const problems = {
  "access.not_permitted": [403, "NG_ACCESS_DENIED", "Missing permission %s."],
  "access.last_administrator": [
    400,
    "INVALID_REQUEST",
    "At least one active person has to remain Account Admin over all resources including child scopes.",
  ],
} as const;

export const problem = problemsOf(problems);

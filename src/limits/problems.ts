import { problemsOf } from "../core/problem.ts";

export const problems = {
  "limits.too_many": [
    429,
    "TOO_MANY_REQUESTS",
    "Too many requests received, please try again later - Rate-Limit Limit %s reached",
  ],
} as const;

export const problem = problemsOf(problems);

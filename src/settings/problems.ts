import { problemsOf } from "../core/problem.ts";

export const problems = {
  "setting.not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Setting with identifier [%s] not found."],
} as const;

export const problem = problemsOf(problems);

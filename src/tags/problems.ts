import { problemsOf } from "../core/problem.ts";

export const problems = {
  "tag.no_such_entities": [
    400,
    "INVALID_ARGUMENT",
    "entityType %s is not supported: tags are attached to APPLICATION, ENVIRONMENT, PIPELINE and SERVICE.",
  ],
} as const;

export const problem = problemsOf(problems);

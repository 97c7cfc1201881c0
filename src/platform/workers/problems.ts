import { problemsOf, type ProblemTable } from "../../core/problem.ts";

export const problems = {
  "workers.too_many": [
    429,
    "TOO_MANY_REQUESTS",
    "Too many large documents are being read. Send them one after the other.",
  ],
  "workers.too_long": [400, "INVALID_REQUEST", "The document is refused: to read it takes more than %s."],
} as const satisfies ProblemTable;

export const problem = problemsOf(problems);

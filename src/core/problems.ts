import { problemsOf } from "./problem.ts";

export const problems = {
  // 402: well-formed and permitted, and yet the state of things does not allow it (docs/decisions/0008).
  "core.stale_version": [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
    "%s [%s] has been changed meanwhile: it is at version %s, the request is for version %s.",
  ],
  "core.referenced": [402, "ENTITY_REFERENCE_EXCEPTION", "%s [%s] is used by %s and cannot be deleted."],
} as const;

/** Refusals that several slices have in common. */
export const commonProblem = problemsOf(problems);

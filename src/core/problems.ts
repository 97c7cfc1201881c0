import { type Problem, problemsOf } from "./problem.ts";

export const problems = {
  // 402: the request is valid and permitted, but the current state does not allow it (docs/decisions/0008).
  "core.stale_version": [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
    "%s [%s] has been changed meanwhile: it is at version %s, the request is for version %s.",
  ],
  "core.referenced": [402, "ENTITY_REFERENCE_EXCEPTION", "%s [%s] is used by %s and cannot be deleted."],
} as const;

const newProblem = problemsOf(problems);

/** Creates the problems that several slices share. One about a stale version says which one is current. */
export const commonProblem = (code: keyof typeof problems, args: readonly string[]): Problem =>
  newProblem(code, args, code === "core.stale_version" ? { currentVersion: Number(args[2]) } : {});

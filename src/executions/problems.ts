import { problemsOf } from "../core/problem.ts";

export const problems = {
  "execution.not_found": [
    404,
    "RESOURCE_NOT_FOUND_EXCEPTION",
    "Plan execution with id [%s]: execution does not exist.",
  ],
  "execution.node_not_found": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Execution [%s] has no node [%s]."],
  "execution.interrupt_unsupported": [
    400,
    "INVALID_REQUEST",
    "interruptType '%s' is not supported yet; supported: AbortAll.",
  ],
  "execution.already_ended": [
    400,
    "ENGINE_INTERRUPT_PROCESSING_EXCEPTION",
    "Execution [%s] has ended with status %s; there is nothing to abort.",
  ],
  "execution.abort_again": [400, "ABORT_ALL_ALREADY", "Execution [%s] is being aborted already."],
  "execution.filter_unsupported": [400, "INVALID_REQUEST", "The filter %s is not supported yet."],
  "execution.bad_filter": [400, "INVALID_REQUEST", "The filter cannot be applied: %s."],
  "execution.bad_offset": [400, "INVALID_REQUEST", "%s"],
} as const;

export const problem = problemsOf(problems);

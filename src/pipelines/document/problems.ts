import { problemsOf, type ProblemTable } from "../../core/problem.ts";

export const problems = {
  "pipeline.other_scope": [400, "INVALID_REQUEST", "The document does not belong to the scope of the request: %s."],
  "pipeline.missing_inputs": [400, "INVALID_REQUEST", "Runtime inputs without a value: %s."],
  "pipeline.bad_inputs": [400, "INVALID_REQUEST", "The runtime inputs are not valid: %s."],
  "pipeline.secret_in_input": [
    400,
    "INVALID_REQUEST",
    "Runtime inputs name secrets only where the pipeline declares the type Secret: %s.",
  ],
  "pipeline.bad_references": [400, "INVALID_REQUEST", "The pipeline cannot run: %s."],
  "pipeline.chain_refused": [400, "INVALID_REQUEST", "The pipeline cannot be chained: %s."],
  "pipeline.stages_not_allowed": [
    402,
    "INVALID_REQUEST",
    "Single stages of pipeline '%s' cannot be run: it does not have allowStageExecutions: true.",
  ],
  "pipeline.unknown_stages": [400, "INVALID_REQUEST", "Pipeline '%s' has no stages [%s]. Choose among [%s]."],
  "pipeline.missing_expressions": [
    400,
    "UNRESOLVED_EXPRESSIONS_ERROR",
    "The stages read what others leave. Choose those, too, or give expressionValues for %s.",
  ],
  "pipeline.bad_expressions": [400, "INVALID_REQUEST", "The expressionValues do not fit the stages: %s."],
  "pipeline.host_refused": [
    400,
    "INVALID_REQUEST",
    "The author of a pipeline, not its callers, chooses the hosts that its steps log in to: %s.",
  ],
  "pipeline.secret_refused": [403, "NG_ACCESS_DENIED", "The pipeline may not use its secrets: %s."],
  "pipeline.unresolved_variable": [400, "UNRESOLVED_EXPRESSIONS_ERROR", "The variable %s cannot be evaluated: %s."],
} as const satisfies ProblemTable;

export const problem = problemsOf(problems);

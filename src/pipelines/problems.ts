import { problemsOf } from "../core/problem.ts";

export const problems = {
  "pipeline.duplicate": [400, "DUPLICATE_FIELD", "A pipeline with identifier [%s] already exists in project [%s]."],
  "pipeline.not_found": [404, "ENTITY_NOT_FOUND", "Pipeline with identifier [%s] not found in project [%s]."],
  "pipeline.other_identifier": [
    400,
    "INVALID_REQUEST",
    "The identifier in the document [%s] is not the one in the address [%s].",
  ],
  "pipeline.principal_refused": [403, "NG_ACCESS_DENIED", "%s %s, who may no longer %s."],
  "pipeline.principal_inactive": [403, "NG_ACCESS_DENIED", "%s %s, whose account is %s."],
  "pipeline.author_unknown": [
    403,
    "NG_ACCESS_DENIED",
    "%s has no known author. A person who may use what it names has to save or adopt it.",
  ],
  "pipeline.changed_meanwhile": [
    402,
    "OPTIMISTIC_LOCKING_EXCEPTION",
    "%s [%s] was changed while it was being adopted. Look at it and adopt it again.",
  ],
  "pipeline.adoption_too_large": [
    400,
    "INVALID_REQUEST",
    "The documents that the request reads have more than 5 MiB together, the pipeline of each trigger included. Adopt fewer at a time.",
  ],
  "pipeline.no_workflow": [404, "RESOURCE_NOT_FOUND_EXCEPTION", "Workflow [%s] does not exist."],
  "pipeline.no_such_id": [404, "NON_EXISTING_PIPELINE", "Pipeline [%s] does not exist."],
  "pipeline.no_such_name": [404, "NON_EXISTING_PIPELINE", "Pipeline [%s] does not exist in application [%s]."],
  "pipeline.variables_too_long": [
    400,
    "INVALID_REQUEST",
    "The variables of the pipeline have more than 1 MiB with all aliases replaced. Write shorter values, or fewer aliases.",
  ],
  "pipeline.variables_not_listed": [
    400,
    "INVALID_REQUEST",
    "The variables of the pipeline cannot be listed: its document is no longer valid, or they have more than 1 MiB. Save the pipeline again.",
  ],
  "pipeline.too_many_variables": [
    400,
    "INVALID_REQUEST",
    "The variables of the pipelines in this query have more than 8 MiB. Ask for fewer pipelines at once.",
  ],
  "pipeline.bad_filter": [400, "INVALID_REQUEST", "The filter is not valid: %s."],
  "pipeline.no_version": [404, "ENTITY_NOT_FOUND", "Pipeline with identifier [%s] has no version %s."],
  "input_set.duplicate": [
    400,
    "DUPLICATE_FIELD",
    "An input set or overlay with identifier [%s] already exists for pipeline [%s].",
  ],
  "input_set.not_found": [404, "ENTITY_NOT_FOUND", "%s with identifier [%s] not found for pipeline [%s]."],
  "input_set.unknown": [400, "INVALID_REQUEST", "Input sets that pipeline [%s] does not have: %s."],
  "input_set.too_much": [400, "INVALID_REQUEST", "Input sets of one run: at most %s."],
  "input_set.outdated": [400, "INVALID_REQUEST", "Input sets that do not fit the pipeline any more: %s."],
  "input_set.stages": [
    400,
    "UNSUPPORTED_OPERATION_EXCEPTION",
    "Choosing stages (stageIdentifiers) is not supported yet.",
  ],
  "pipeline.v1_disagreement": [
    400,
    "INVALID_REQUEST",
    "The field %s says '%s', and the pipeline in pipeline_yaml says '%s'. Send the same in both.",
  ],
} as const;

export const problem = problemsOf(problems);

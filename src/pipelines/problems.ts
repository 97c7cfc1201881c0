import { problemsOf } from "../core/problem.ts";

export const problems = {
  "pipeline.duplicate": [400, "DUPLICATE_FIELD", "A pipeline with identifier [%s] already exists in project [%s]."],
  "pipeline.not_found": [404, "ENTITY_NOT_FOUND", "Pipeline with identifier [%s] not found in project [%s]."],
  "pipeline.other_identifier": [
    400,
    "INVALID_REQUEST",
    "The identifier in the document [%s] is not the one in the address [%s].",
  ],
  "pipeline.no_such_id": [404, "NON_EXISTING_PIPELINE", "Pipeline [%s] does not exist."],
  "pipeline.no_such_name": [404, "NON_EXISTING_PIPELINE", "Pipeline [%s] does not exist in application [%s]."],
  "pipeline.bad_filter": [400, "INVALID_REQUEST", "The filter is not valid: %s."],
  "pipeline.no_version": [404, "ENTITY_NOT_FOUND", "Pipeline with identifier [%s] has no version %s."],
} as const;

export const problem = problemsOf(problems);

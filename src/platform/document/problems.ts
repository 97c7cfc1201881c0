import { Problem, problemsOf, type ProblemTable } from "../../core/problem.ts";

export const problems = {
  "document.too_large": [400, "INVALID_REQUEST", "The document is larger than %s bytes (limit documentBytes)."],
  "document.too_complex": [400, "INVALID_REQUEST", "The document is refused: %s."],
  "document.not_yaml": [400, "INVALID_YAML_ERROR", "Invalid YAML: %s."],
  "document.not_json": [400, "INVALID_YAML_ERROR", "Invalid JSON: %s."],
  "document.invalid": [400, "SCHEMA_VALIDATION_FAILED", "The document is not valid: %s."],
  "document.bad_payload": [400, "INVALID_REQUEST", "Unable to process JSON: %s."],
} as const satisfies ProblemTable;

export const problem = problemsOf(problems);

/** Whether a document was refused because it is larger than the limits that it was read with. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof Problem && (error.code === "document.too_large" || error.code === "document.too_complex");

import { problemsOf } from "../../core/problem.ts";

export const problems = {
  "graphql.no_query": [400, "INVALID_REQUEST", "The request has no GraphQL query."],
  "graphql.bad_body": [400, "INVALID_REQUEST", "%s"],
  "graphql.bad_variables": [400, "INVALID_REQUEST", "variables is neither an object nor null."],
  "graphql.upload_in_json": [
    400,
    "INVALID_REQUEST",
    "A file is only taken from the part 'file' of a form; '%s' does not belong into JSON.",
  ],
  "graphql.file_not_taken": [
    400,
    "INVALID_REQUEST",
    "This operation takes no file; the part 'file' belongs to createSecret and updateSecret of an ENCRYPTED_FILE.",
  ],
  "graphql.file_taken_twice": [
    400,
    "INVALID_REQUEST",
    "A form has one file; several fields of this operation take one.",
  ],
  "graphql.not_acceptable": [
    406,
    "INVALID_REQUEST",
    "Answers are application/json or application/graphql-response+json; Accept takes neither.",
  ],
  "graphql.answer_too_large": [
    400,
    "INVALID_REQUEST",
    "The answer would have more than %s MiB of text. Ask for fewer entries or fields. Mutations of the request were carried out.",
  ],
  "graphql.more_errors": [
    400,
    "TOO_MANY_ERRORS",
    "The answer leaves out %s more errors. Ask for fewer entries or fields to see all.",
  ],
  "graphql.too_many_like_values": [
    400,
    "INVALID_ARGUMENT",
    "The filter '%s' has too many values: all filters with LIKE of a list take at most %s together. Use IN with ids.",
  ],
  "graphql.like_value_too_long": [
    400,
    "INVALID_ARGUMENT",
    "A value of the filter '%s' is too long: LIKE takes at most %s characters.",
  ],
  "graphql.negative": [400, "INVALID_ARGUMENT", "%s must not be negative."],
} as const;

export const problem = problemsOf(problems);

import { problemsOf } from "../../core/problem.ts";

export const problems = {
  "graphql.no_query": [400, "INVALID_REQUEST", "The request has no GraphQL query."],
  "graphql.bad_body": [400, "INVALID_REQUEST", "%s"],
  "graphql.bad_variables": [400, "INVALID_REQUEST", "variables is neither an object nor null."],
  "graphql.upload_in_json": [
    400,
    "INVALID_REQUEST",
    "This operation takes no file; '%s' does not belong into the body.",
  ],
  "graphql.two_parts": [400, "INVALID_REQUEST", "The form has two parts named '%s'."],
  "graphql.unknown_part": [400, "INVALID_REQUEST", "The form has a part named '%s'; it takes query and x-api-key."],
  "graphql.negative": [400, "INVALID_ARGUMENT", "%s must not be negative."],
} as const;

export const problem = problemsOf(problems);

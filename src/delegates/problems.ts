import { problemsOf } from "../core/problem.ts";

export const problems = {
  "delegate.token_name_taken": [400, "DUPLICATE_FIELD", "A delegate token named [%s] already exists."],
  "delegate.bad_token_name": [
    400,
    "INVALID_ARGUMENT",
    "tokenName must hold 1 to 128 letters, digits, spaces, _, - and . only.",
  ],
  "delegate.name_taken": [
    400,
    "DUPLICATE_DELEGATE_EXCEPTION",
    "Another delegate uses the name [%s]; give this one a name of its own.",
  ],
  "delegate.other_protocol": [
    400,
    "INVALID_REQUEST",
    "The delegate speaks protocol %s, this server %s; use the same version of Railhead on both.",
  ],
  "delegate.illegal_message": [400, "INVALID_REQUEST", "The delegate sent a message that is not allowed here: %s."],
} as const;

export const problem = problemsOf(problems);

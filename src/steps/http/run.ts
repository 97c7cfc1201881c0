import { type HttpResult, httpResult } from "../../../protocol/work/http.ts";
import {
  evaluateCondition,
  evaluateTemplate,
  ExpressionError,
  type FailureType,
  type Json,
  newBudget,
  type Scope,
  type StepAttempt,
  type StepEnd,
  type StepType,
  withNames,
} from "../../engine/index.ts";
import type { HttpTemplate } from "./plan.ts";
import { resolveRequest, type SentRequest } from "./request.ts";

type Response = Extract<HttpResult, { kind: "response" }>;
type Failed = Extract<HttpResult, { kind: "failure" }>;

/** Sends an HTTP request from a delegate. */
export const run: StepType = {
  begin(attempt) {
    const { work, sent } = resolveRequest(attempt);
    return { kind: "runTask", selectors: attempt.step.selectors, work, progress: sent };
  },
  receive(attempt, signal) {
    // Delegates are not trusted: the slice of delegates has only checked that the result is JSON.
    const result =
      signal.kind === "taskEnded" && signal.outcome.kind === "result"
        ? httpResult.safeParse(signal.outcome.result).data
        : undefined;
    if (!result)
      return failed(attempt, { why: "its delegate did not say how the request ended", type: "ApplicationError" });
    return result.kind === "response" ? answered(attempt, result) : unanswered(attempt, result);
  },
};

const templateOf = ({ step }: StepAttempt): HttpTemplate => step.work as unknown as HttpTemplate;
const sentBy = ({ attempt }: StepAttempt): SentRequest => attempt.progress as SentRequest;

type Why = { readonly why: string; readonly type: FailureType; readonly output?: { readonly [name: string]: Json } };

function failed(attempt: StepAttempt, { why, type, output = {} }: Why): StepEnd {
  const message = `Step '${attempt.name}' failed: ${why}`;
  const request = { httpUrl: sentBy(attempt).url, httpMethod: templateOf(attempt).method };
  return {
    ...{ kind: "end", status: "failed", failure: { message, types: [type] } },
    output: { ...request, ...output, status: "FAILURE", errorMsg: message },
  };
}

const TYPES: Readonly<Record<Failed["reason"], FailureType>> = {
  invalid: "ConfigurationFailure",
  timeout: "Timeout",
  tls: "Connectivity",
  connection: "Connectivity",
  redirect: "ApplicationError",
  responseTooLarge: "ApplicationError",
};

const unanswered = (attempt: StepAttempt, { reason, message }: Failed): StepEnd =>
  failed(attempt, { why: message, type: TYPES[reason] });

function answered(attempt: StepAttempt, response: Response): StepEnd {
  const { method: httpMethod, assertion, outputs } = templateOf(attempt);
  const { url: httpUrl, inputVariables } = sentBy(attempt);
  const output = { httpUrl, httpMethod, httpResponseCode: response.status, httpResponseBody: response.body ?? "" };
  const httpResponseHeaders = Object.fromEntries(response.headers.map(({ name, value }) => [name, value]));
  const scope = withNames(attempt.scope(), { ...output, httpResponseHeaders, spec: { inputVariables } });
  try {
    if (assertion !== undefined && !evaluateCondition(assertion, scope, newBudget())) {
      const why = `the assertion '${assertion.slice(0, 500)}' is false for a response with status ${response.status}`;
      return failed(attempt, { why, type: "ApplicationError", output });
    }
    return {
      ...{ kind: "end", status: "succeeded", outputs: resolveOutputs(outputs, scope) },
      output: { ...output, status: "SUCCESS", errorMsg: "" },
    };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return failed(attempt, { why: error.message, type: "ExpressionEvaluation", output });
  }
}

function resolveOutputs(outputs: HttpTemplate["outputs"], scope: Scope): NonNullable<StepEnd["outputs"]> {
  const budget = newBudget();
  return outputs.map(({ name, value }) => ({ name, value: evaluateTemplate(value, scope, budget) }));
}

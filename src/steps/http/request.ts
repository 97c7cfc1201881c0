import {
  type Budget,
  evaluateTemplate,
  type Json,
  MASK,
  newBudget,
  type Scope,
  type StepAttempt,
  withNames,
  type Work,
} from "../../engine/index.ts";
import { createSecretParts } from "../secret-parts.ts";
import type { HttpTemplate } from "./plan.ts";

/** What the assertion and the output variables read of the request. */
export type SentRequest = {
  /** With `**************` for each secret. */
  readonly url: string;
  readonly inputVariables: { readonly [name: string]: Json };
};

/** The delegate's timers count at most 24 days; the engine ends a step whose timeout has passed before. */
const MAX_TIMEOUT_MS = 86_400_000;

/** The work of the task, and what is kept until its end. Throws ExpressionError. */
export function resolveRequest({ step, scope }: Pick<StepAttempt, "step" | "scope">): {
  readonly work: Work;
  readonly sent: SentRequest;
} {
  const template = step.work as unknown as HttpTemplate;
  const budget = newBudget();
  const outside = scope();
  const inputVariables = resolveInputs(template, outside, budget);
  const inside = withNames(outside, { spec: { inputVariables } });
  const { uses, partsOf } = createSecretParts(inside);
  const resolve = (text: string) => partsOf(text, (one) => evaluateTemplate(one, inside, budget));
  const url = resolve(template.url);
  const { home, method, body } = template;
  const work: Work = {
    ...{ kind: "http", version: 1, method, url },
    headers: template.headers.map(({ name, value }) => ({ name, value: resolve(value) })),
    ...(body !== undefined && { body: resolve(body) }),
    timeoutMs: Math.min(step.timeoutMs, MAX_TIMEOUT_MS),
    ...(home && { secrets: { home, uses } }),
  };
  const shownUrl = url.map((part) => (typeof part === "string" ? part : MASK)).join("");
  return { work, sent: { url: shownUrl, inputVariables } };
}

const resolveInputs = ({ inputs }: HttpTemplate, scope: Scope, budget: Budget): { readonly [name: string]: Json } =>
  Object.fromEntries(inputs.map(({ name, value }) => [name, evaluateTemplate(value, scope, budget)]));

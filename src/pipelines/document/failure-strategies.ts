/** `failureStrategies`: what follows from the failure of a step. */
import { z } from "zod";
import { defined } from "../../platform/document/json-schema/definitions.ts";
import { allLater, choice, interval, oneOf, type Phase, typed, wholeNumber } from "../../steps/schema/fields.ts";

const ERRORS = [
  ...(["AllErrors", "Unknown", "Authentication", "Connectivity", "Timeout", "Authorization", "Verification"] as const),
  ...(["DelegateProvisioning", "DelegateRestart", "PolicyEvaluationFailure", "InputTimeoutError"] as const),
  ...(["ApprovalRejection", "UserMarkedFailure", "InfrastructureFailure", "ResourceLimitsFailure"] as const),
  "ConfigurationFailure",
] as const;

const LATER_ERRORS = oneOf(`PluginImageFailure RetryableTransientFailure ${ERRORS.join(" ")}`);

const PLAIN = [
  ...(["Ignore", "MarkAsSuccess", "MarkAsFailure", "Abort", "StageRollback", "StepGroupRollback"] as const),
  "PipelineRollback",
] as const;
const RETRIES = ["Retry", "RetryStepGroup"] as const;
const PROCEED = "ProceedWithDefaultValues";
const FOLLOWING = [...PLAIN, ...RETRIES, "ManualIntervention"] as const;
const ACTIONS = [...FOLLOWING, PROCEED] as const;

const LATER_ACTIONS = oneOf(ACTIONS.join(" "));

/** Of one step or step group. */
export const MAX_RETRIES = 100;

type Action = (typeof ACTIONS)[number];

export type FailureActionDocument =
  | { readonly type: (typeof PLAIN)[number] | typeof PROCEED }
  | {
      readonly type: (typeof RETRIES)[number];
      readonly spec: {
        readonly retryCount: number | string;
        readonly retryIntervals?: readonly string[] | null | undefined;
        readonly onRetryFailure?: { readonly action: FailureActionDocument } | null | undefined;
      };
    }
  | {
      readonly type: "ManualIntervention";
      readonly spec: { readonly timeout: string; readonly onTimeout: { readonly action: FailureActionDocument } };
    };

export type FailureStrategyDocument = {
  readonly onFailure: { readonly errors: readonly (typeof ERRORS)[number][]; readonly action: FailureActionDocument };
};

/** An action that follows another is none of the kind that it follows, so that chains end. */
function failureAction(phase: Phase, actions: readonly Action[]): z.ZodType<FailureActionDocument> {
  const has = (action: Action): boolean => actions.includes(action);
  const following = (kind: readonly Action[]): z.ZodObject<{ action: z.ZodType<FailureActionDocument> }> =>
    z.strictObject({
      action: failureAction(
        phase,
        FOLLOWING.filter((one) => actions.includes(one) && !kind.includes(one)),
      ).describe("What follows"),
    });
  const retry = (type: (typeof RETRIES)[number]) =>
    z.strictObject({
      type: z.literal(type).describe("The action"),
      spec: z
        .strictObject({
          retryCount: wholeNumber(phase, 1, MAX_RETRIES).describe("How often"),
          retryIntervals: z
            .array(interval(phase))
            .max(MAX_RETRIES)
            .nullish()
            .describe("The pause before each retry; the last one repeats"),
          onRetryFailure: following(RETRIES)
            .nullish()
            .describe("When all retries have failed; otherwise MarkAsFailure"),
          ...allLater("condition"),
        })
        .describe("Of Retry, RetryStepGroup and ManualIntervention"),
    });
  const plain = ([...PLAIN, PROCEED] as const)
    .filter(has)
    .map((type) => z.strictObject({ type: z.literal(type).describe("The action"), ...allLater("spec") }));
  const intervention = () =>
    z.strictObject({
      type: z.literal("ManualIntervention").describe("The action"),
      spec: z
        .strictObject({
          timeout: interval(phase).describe("How long it waits for a person"),
          onTimeout: following(["ManualIntervention"]).describe("When no person decides in time"),
        })
        .describe("Of Retry, RetryStepGroup and ManualIntervention"),
    });
  const forms = [...plain, ...RETRIES.filter(has).map(retry), ...(has("ManualIntervention") ? [intervention()] : [])];
  const [first = "MarkAsFailure", ...others] = actions;
  return typed(choice("Failure action", [first, ...others], LATER_ACTIONS), forms);
}

const strategy = (phase: Phase) =>
  z.strictObject({
    onFailure: z
      .strictObject({
        errors: z
          .array(choice("Failure error", ERRORS, LATER_ERRORS))
          .min(1)
          .describe("Failures that it is for"),
        action: failureAction(phase, ACTIONS).describe("What follows"),
      })
      .describe("Failures and what follows from them"),
  });

/** The first strategy that names the failure applies: a later one of the same failure could never apply. */
function refuseUnreachable(
  list: readonly { onFailure: { errors: readonly string[] } }[],
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [nth, { onFailure }] of list.entries())
    for (const [at, error] of onFailure.errors.entries()) {
      const message = unreachable(error, onFailure.errors, seen);
      if (message !== undefined) context.addIssue({ code: "custom", path: [nth, "onFailure", "errors", at], message });
      seen.add(error);
    }
}

/** No other failure leaves a node that could go on with values. */
function refuseProceeding(
  list: readonly { onFailure: { errors: readonly string[]; action: { type: string } } }[],
  context: z.RefinementCtx,
): void {
  for (const [nth, { onFailure }] of list.entries()) {
    if (onFailure.action.type !== PROCEED) continue;
    const at = onFailure.errors.findIndex((error) => error !== "InputTimeoutError");
    const message = `${PROCEED} applies to InputTimeoutError alone`;
    if (at >= 0) context.addIssue({ code: "custom", path: [nth, "onFailure", "errors", at], message });
  }
}

function unreachable(error: string, errors: readonly string[], seen: ReadonlySet<string>): string | undefined {
  if (seen.has(error)) return `The failure error '${error}' is given twice`;
  if (seen.has("AllErrors")) return `'${error}' stands after AllErrors, so it can never apply`;
  return error === "AllErrors" && errors.length > 1 ? "AllErrors stands alone in its list" : undefined;
}

export const failureStrategies = (phase: Phase) =>
  defined(
    z.array(strategy(phase)).superRefine(refuseUnreachable).superRefine(refuseProceeding),
    "failureStrategies",
  ).nullish() as unknown as z.ZodType<readonly FailureStrategyDocument[] | null | undefined>;

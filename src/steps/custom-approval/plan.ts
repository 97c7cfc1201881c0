import { parseDuration, type ShellTemplate } from "../../engine/index.ts";
import { plan as planScript } from "../shell-script/plan.ts";
import type { PlanContext } from "../step-module.ts";
import type { CriteriaSpec } from "./criteria.ts";
import type { CustomApprovalSpec } from "./schema.ts";

/** The work of a CustomApproval step before its expressions are resolved. */
export type CustomApprovalTemplate = {
  readonly kind: "customApproval";
  readonly script: ShellTemplate;
  readonly intervalMs: number;
  readonly scriptTimeoutMs: number;
  readonly approval: CriteriaSpec;
  readonly rejection?: CriteriaSpec;
};

/** The script gets no cluster. */
export function plan(spec: CustomApprovalSpec, context: PlanContext): CustomApprovalTemplate {
  const { rejectionCriteria } = spec;
  return {
    kind: "customApproval",
    script: planScript(scriptOf(spec), { ...context, hasCluster: false }),
    intervalMs: parseDuration(spec.retryInterval) ?? 0,
    scriptTimeoutMs: parseDuration(spec.scriptTimeout) ?? 0,
    approval: spec.approvalCriteria,
    ...(rejectionCriteria && { rejection: rejectionCriteria }),
  };
}

/** The fields that a ShellScript step has, too. */
export const scriptOf = ({ shell, source, environmentVariables, outputVariables }: CustomApprovalSpec) => ({
  ...{ shell, source, environmentVariables, outputVariables },
});

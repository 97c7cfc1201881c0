import { bindScript, mayReadOutputs, type ScriptBinding, secretsIn, type ShellTemplate } from "../../engine/index.ts";
import type { PlanContext } from "../step-module.ts";
import type { ShellScriptSpec } from "./schema.ts";

/** Variables of steps whose infrastructure is a cluster. */
const CLUSTER_VARIABLES = [
  { name: "PLATFORM_KUBE_NAMESPACE", value: "<+infra.namespace>" },
  { name: "PLATFORM_KUBE_RELEASE_NAME", value: "<+infra.releaseName>" },
];

/** The work of a step whose document has no runtime inputs left. */
export function plan(spec: ShellScriptSpec, context: PlanContext): ShellTemplate {
  const bound = bindScript(spec.source.spec.script);
  // Saving and merging check the script: a fault here is an error of the caller.
  if ("faults" in bound)
    throw new Error(`the script of step ${context.identifier} was not checked: ${bound.faults[0]?.message}`);
  return {
    kind: "shell",
    // On the line of the script's first, so that Bash counts lines as the author does.
    script: spec.errexit === true ? `set -e; ${bound.script}` : bound.script,
    ...environmentOf(spec, bound.bindings, context),
    ...targetOf(spec, context),
    outputs: (spec.outputVariables ?? []).map(({ name, type, value }) => ({
      ...{ name, variable: value },
      ...(type === "Secret" && { type }),
    })),
  };
}

function environmentOf(
  { environmentVariables }: ShellScriptSpec,
  bindings: readonly ScriptBinding[],
  { home, hasCluster, withSecrets }: PlanContext,
): Pick<ShellTemplate, "env" | "home"> {
  const given = (environmentVariables ?? []).map(({ name, type, value }) => ({
    ...(type === "Number" ? { name, type } : { name }),
    value: type === "Secret" ? `<+secrets.getValue("${String(value)}")>` : String(value ?? ""),
  }));
  // The step's own variables of these names come later and replace them.
  const ofCluster = hasCluster ? CLUSTER_VARIABLES : [];
  const bound = bindings.map(({ expression, ...one }) => ({ ...one, value: expression }));
  const env = [...ofCluster, ...given, ...bound].map((one) => ({ ...one, value: withSecrets(one.value) }));
  return env.some(({ value }) => secretsIn(value).length > 0 || mayReadOutputs(value)) ? { env, home } : { env };
}

function targetOf(
  { onDelegate, executionTarget }: ShellScriptSpec,
  { home }: PlanContext,
): Pick<ShellTemplate, "home" | "target"> {
  const { host, connectorRef, workingDirectory } = executionTarget ?? {};
  if (onDelegate !== false || !host || !connectorRef) return {};
  return { home, target: { host, credential: connectorRef, ...(workingDirectory ? { workingDirectory } : {}) } };
}

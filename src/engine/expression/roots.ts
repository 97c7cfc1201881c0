import { ExpressionError } from "./error.ts";
import { nearest } from "./nearest.ts";

/**
 * What a path may begin with. `contextOf` (src/pipelines/document/context.ts) makes the values of `pipeline`, `trigger`,
 * `account`, `org` and `project`; scope.ts maps `stage`, `step`, `steps` and `execution` to places below `pipeline`.
 */
export const ROOTS: readonly string[] = [
  "pipeline",
  "stage",
  "step",
  "steps",
  "execution",
  "trigger",
  "account",
  "org",
  "project",
];

/** The root of the expressions that ask for a secret; nothing else may begin with it. */
export const SECRETS = "secrets";

/**
 * Values are never evaluated: whatever made a part of another expression of a secret would make it a part of what is stored.
 * And its name is never computed: whoever could choose it would choose which secret is given away.
 */
const misplacedSecret = (at: number): ExpressionError =>
  new ExpressionError(
    "place",
    `a secret stands alone, its reference written out, as in <+secrets.getValue("account.name")> or <+secrets.getAsFile("account.name")>, in a script or in the value of an environment variable`,
    at,
  );

/** Families that pipelines of this API family use and that the engine does not run yet. */
const LATER: ReadonlySet<string> = new Set([
  "variable",
  "service",
  "serviceConfig",
  "serviceVariables",
  "env",
  "infra",
  "infrastructure",
  "INFRA_KEY",
  "INFRA_KEY_SHORT_ID",
  "artifact",
  "artifacts",
  "manifest",
  "manifests",
  "configFile",
  "fileStore",
  "matrix",
  "repeat",
  "strategy",
  "item",
  "exportedVariables",
  "approval",
  "stepGroup",
  "rollbackSteps",
  "json",
  "xml",
  "regex",
  "datetime",
  "codebase",
  "eventPayload",
  "inputSet",
  "instance",
  "connectors",
  "httpResponseCode",
  "httpResponseBody",
  "httpMethod",
  "httpUrl",
  "httpResponseHeaders",
  "notification",
  "OnPipelineSuccess",
  "OnPipelineFailure",
  "OnStageSuccess",
  "OnStageFailure",
  "OnRollbackModeExecution",
  "Always",
]);

/** Why a path may not begin with `name`; undefined when it may. */
export function refusalOfRoot(name: string, at: number): ExpressionError | undefined {
  if (ROOTS.includes(name)) return undefined;
  if (name === SECRETS) return misplacedSecret(at);
  if (name === "input") {
    return new ExpressionError("unknown", "it is a runtime input that was given no value", at);
  }
  const begins = `an expression begins with ${ROOTS.join(", ")}`;
  if (LATER.has(name)) {
    return new ExpressionError("unsupported", `this version does not run '${name}'; ${begins}`, at);
  }
  const near = nearest(name, [...ROOTS, SECRETS]);
  const hint = near === undefined ? begins : `did you mean '${near}'?`;
  return new ExpressionError("unknown", `there is no '${name}'; ${hint}`, at);
}

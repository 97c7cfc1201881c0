/** The only door to the engine: a pure machine for executions, and the expressions of pipelines. */
export type * from "./model.ts";
export { initialState, step } from "./step.ts";
export { isFinal } from "./status.ts";
export { isPlan, isState, quarantined } from "./quarantine.ts";
export { bindScript, BINDING_PREFIX, type ScriptBinding } from "./script.ts";
export { checkTemplate, readsOf, referencesOf } from "./expression/check.ts";
export { replacePaths, secretsIn } from "./expression/secrets.ts";
export { ExpressionError } from "./expression/error.ts";
export { type Budget, newBudget } from "./expression/budget.ts";
export { evaluateCondition, evaluateTemplate, evaluateValue } from "./expression/template.ts";
export { numberFault } from "./number.ts";
export { namespaceFault, releaseNameFault } from "./infra.ts";
export { matchesWhole, patternFault } from "./pattern.ts";
export { folderFault, hostFault } from "./target.ts";
export { scopeFor } from "./scope.ts";
export type { TextFault } from "./position.ts";

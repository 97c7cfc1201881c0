/** Environment variables of the type Number whose value is known when the run starts. */
import type { Fault } from "../../core/problem.ts";
import {
  type Budget,
  evaluateTemplate,
  ExpressionError,
  newBudget,
  type NodeId,
  numberFault,
  type Plan,
  referencesOf,
  scopeFor,
} from "../../engine/index.ts";
import { pathText } from "../../platform/document/position/path.ts";
import type { Outline } from "./evaluate-variables.ts";
import { problem } from "./problems.ts";
import type { PipelineDocument } from "./schema.ts";
import { type StepNode, stepsIn } from "./visit.ts";

/** `place` names the variable in messages. */
type WrongNumber = { readonly place: string; readonly fault: Fault };

/**
 * Throws `pipeline.unresolved_variable` (400) for values that are no numbers, each with its path. What reads the results
 * of steps or stages, or cannot be evaluated, is left to the start of its step, which checks every value again.
 */
export function requireNumbers(pipeline: PipelineDocument, { plan, idOf }: Outline): void {
  const budget = newBudget();
  const wrong = stepsIn(pipeline).flatMap((step) =>
    wrongNumbersOf(step, (value) => faultAtStart(value, plan, idOf(step), budget)),
  );
  const [first] = wrong;
  if (!first) return;
  const faults = wrong.map(({ fault }) => fault);
  throw problem("pipeline.unresolved_variable", [first.place, first.fault.message], { faults });
}

type FaultOf = (value: string) => string | undefined;

const wrongNumbersOf = ({ document, names, path }: StepNode, faultOf: FaultOf): readonly WrongNumber[] =>
  (document.spec.environmentVariables ?? []).flatMap(({ name, type, value }, at) => {
    const message = type === "Number" && typeof value === "string" ? faultOf(value) : undefined;
    if (message === undefined) return [];
    const list = ["spec", "environmentVariables"];
    const place = [...names, ...list, name].join(".");
    return [{ place, fault: { path: pathText([...path, ...list, at, "value"]), message } }];
  });

function faultAtStart(value: string, plan: Plan, node: NodeId, budget: Budget): string | undefined {
  if (!value.includes("<+") || !referencesOf(value).every(({ path }) => isKnownAtStart(path))) return undefined;
  try {
    return numberFault(
      evaluateTemplate(
        value,
        scopeFor(plan, () => undefined, node),
        budget,
      ),
    );
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

const FACTS: ReadonlySet<unknown> = new Set(["trigger", "account", "org", "project"]);
const FIXED: ReadonlySet<unknown> = new Set(["variables", "name", "identifier", "tags"]);

/** Whether no result of the run can change what the path leads to. */
function isKnownAtStart([root, ...rest]: readonly (string | number)[]): boolean {
  if (root === "pipeline") return FIXED.has(rest[0] === "stages" ? rest[2] : rest[0]);
  return FACTS.has(root) || (root === "stage" && FIXED.has(rest[0]));
}

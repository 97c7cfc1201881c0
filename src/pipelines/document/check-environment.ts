/** Environment variables of the type Number whose value is known when the run starts. */
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
import { valueFields } from "./texts.ts";

/**
 * Throws `pipeline.unresolved_variable` (400) for values that are no numbers, each with its path. What reads the results
 * of steps or stages, or cannot be evaluated, is left to the start of its step, which checks every value again.
 */
export function requireNumbers(pipeline: PipelineDocument, { plan, idOf }: Outline): void {
  const budget = newBudget();
  const wrong = valueFields(pipeline).flatMap((field) => {
    const { node, kind, value, isNumber, name = "" } = field;
    if (kind !== "template" || !isNumber || typeof value !== "string") return [];
    const message = faultAtStart(value, plan, idOf(node), budget);
    if (message === undefined) return [];
    const place = [...node.names, "spec", "environmentVariables", name].join(".");
    return [{ place, fault: { path: pathText(field.path), message } }];
  });
  const [first] = wrong;
  if (!first) return;
  const faults = wrong.map(({ fault }) => fault);
  throw problem("pipeline.unresolved_variable", [first.place, first.fault.message], { faults });
}

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
export function isKnownAtStart([root, ...rest]: readonly (string | number)[]): boolean {
  if (root === "pipeline") return FIXED.has(rest[0] === "stages" ? rest[2] : rest[0]);
  return FACTS.has(root) || (root === "stage" && FIXED.has(rest[0]));
}

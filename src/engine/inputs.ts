/** Inputs that are submitted while the execution runs: their node waits for them before it begins. */
import { INPUT_ROOT } from "./expression/roots.ts";
import type { Json, NodeId, NodeInput, NodeInputs, NodeState, PlanNode } from "./model.ts";
import { numberOf } from "./number.ts";

/** What was submitted, by the key of the input. */
export type Submitted = NonNullable<NodeState["inputs"]>;

/** The expression that gets the value of an input. */
export const inputExpression = (key: string): string => `<+${INPUT_ROOT}[${JSON.stringify(key)}]>`;

export const asksOf = (definition: PlanNode): NodeInputs | undefined =>
  "asks" in definition ? definition.asks : undefined;

/** Whether the node has to wait before it begins. */
export const lacksInputs = (definition: PlanNode, { inputs }: NodeState): boolean =>
  asksOf(definition) !== undefined && inputs === undefined;

export const awaitsInputs = ({ status, attempts }: Pick<NodeState, "status" | "attempts">): boolean =>
  status === "waiting" && attempts.at(-1)?.waitsFor.includes("input") === true;

/** The values that a node has without a submission; the keys without a default, if there are any. */
export function defaultsOf({ inputs }: NodeInputs): Submitted | { readonly missing: readonly string[] } {
  const missing = inputs.filter((one) => one.default === undefined).map(({ key }) => key);
  return missing.length > 0 ? { missing } : Object.fromEntries(inputs.map((one) => [one.key, one.default ?? ""]));
}

/** What was submitted for the node and for those around it, the nearest first. */
export const submittedAround = (chain: ReadonlyMap<NodeId, NodeState>): Json =>
  Object.fromEntries([...chain.values()].toReversed().flatMap(({ inputs }) => Object.entries(inputs ?? {})));

/** The variables of a node that were submitted, by name; undefined for a node that asks for none. */
export function submittedVariables(
  definition: PlanNode,
  inputs: NodeState["inputs"],
): { readonly [name: string]: Json } | undefined {
  const asked = (asksOf(definition)?.inputs ?? []).filter(({ variable }) => variable !== undefined);
  if (asked.length === 0) return undefined;
  return Object.fromEntries(
    asked.flatMap((input) => {
      const value = inputs?.[input.key];
      return value === undefined ? [] : [[input.variable ?? "", typedValue(input, value)]];
    }),
  );
}

const typedValue = ({ type }: NodeInput, value: string): Json =>
  type === "Number" && value !== "" ? numberOf(value) : value;

/** What goes into a chained pipeline when its stage begins, and what comes out of it at its end. */
import { childOf } from "./children.ts";
import { type Budget, newBudget } from "./expression/budget.ts";
import { ExpressionError } from "./expression/error.ts";
import { evaluateTemplate } from "./expression/template.ts";
import { instanceOf } from "./instance.ts";
import type { ChainedInput, ChainedOutput, Failure, Json, NodeState, Output } from "./model.ts";
import { numberFault, numberOf } from "./number.ts";
import { outputBytesOf, outputsFault } from "./output-bytes.ts";
import { matchesWhole } from "./pattern.ts";
import { changeAttempt, definitionOf, findNode, parentOf, type Run } from "./run.ts";
import { scopeOf } from "./run-scope.ts";

/** Not the node. */
type Refused = { readonly refused: Failure };

/** The pipeline with the values of its inputs, as the stage that runs it sees them. */
export function takeInputs(run: Run, node: NodeState, inputs: readonly ChainedInput[]): NodeState | Refused {
  const values: Output[] = [];
  const budget = newBudget();
  for (const input of inputs) {
    const value = evaluated(run, parentOf(run, node) ?? node, input.value, budget);
    const fault = typeof value === "string" ? inputFault(input, value) : value.fault;
    if (typeof value !== "string" || fault !== undefined)
      return refused(`The input '${input.name}' of pipeline '${nameOf(run, node)}': ${fault}`);
    values.push({ name: input.name, value });
  }
  const tooLarge = count(run, node, values);
  if (tooLarge) return tooLarge;
  const variables = Object.fromEntries(values.map(({ name, value }, nth) => [name, typed(inputs[nth], value)]));
  return changeAttempt(run, node, { output: { variables } });
}

const typed = (input: ChainedInput | undefined, value: string): Json =>
  input?.type === "Number" && value !== "" ? numberOf(value) : value;

function inputFault({ type, isRequired, allowed, isMany, pattern }: ChainedInput, value: string): string | undefined {
  if (isRequired && value === "") return "a value is required, and the expression gives an empty text";
  const fault = type === "Number" ? numberFault(value) : undefined;
  if (fault !== undefined) return fault;
  const chosen = isMany && !allowed?.includes(value) ? value.split(",").map((one) => one.trim()) : [value];
  if (allowed && !chosen.every((one) => allowed.includes(one)))
    return `its value is not one of the allowed values: ${allowed.join(", ")}`;
  return pattern === undefined || matchesWhole(pattern, value) ? undefined : `its value does not match ${pattern}`;
}

/** The pipeline with its outputs. */
export function giveOutputs(run: Run, node: NodeState, outputs: readonly ChainedOutput[]): NodeState | Refused {
  const values: Output[] = [];
  const budget = newBudget();
  for (const { name, value: template } of outputs) {
    const value = evaluated(run, node, template, budget);
    if (typeof value !== "string")
      return refused(`The output '${name}' of pipeline '${nameOf(run, node)}': ${value.fault}`);
    values.push({ name, value });
  }
  return count(run, node, values) ?? changeAttempt(run, node, { outputs: values });
}

/** What the pipeline that a stage runs has put out. */
export function outputsBelow(run: Run, stage: NodeState): readonly Output[] {
  const find = (id: string): NodeState | undefined => findNode(run, id);
  const pipeline = find(instanceOf(run.plan, find, childOf(run, stage, 0)).id);
  return pipeline?.attempts.at(-1)?.outputs ?? [];
}

function count(run: Run, node: NodeState, values: readonly Output[]): Refused | undefined {
  const bytes = outputBytesOf({ outputs: values });
  const failure = outputsFault(run, `Pipeline '${nameOf(run, node)}'`, bytes);
  if (failure) return { refused: failure };
  run.outputBytes += bytes;
  return undefined;
}

const nameOf = (run: Run, node: NodeState): string => definitionOf(run, node).name;

const refused = (message: string): Refused => ({ refused: { message, types: ["ExpressionEvaluation"] } });

function evaluated(run: Run, node: NodeState, text: string, budget: Budget): string | { readonly fault: string } {
  try {
    return evaluateTemplate(text, scopeOf(run, node), budget);
  } catch (error) {
    if (error instanceof ExpressionError) return { fault: error.message };
    throw error;
  }
}

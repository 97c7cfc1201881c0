/** The inputs that a stage gives to the pipeline that it runs: those that are known at the start, and the others. */
import type { Fault } from "../../core/problem.ts";
import {
  type Budget,
  type ChainedInput,
  evaluateTemplate,
  ExpressionError,
  newBudget,
  referencesOf,
  scopeFor,
} from "../../engine/index.ts";
import { pathText } from "../../platform/document/position/path.ts";
import { isMarker, readMarker } from "../../steps/schema/marker.ts";
import { variablesGiven } from "../document/chain.ts";
import { isKnownAtStart } from "../document/check-environment.ts";
import { problem } from "../document/problems.ts";
import type { PipelineDocument, VariableDocument } from "../document/schema.ts";
import type { EarlyFacts } from "../references.ts";
import { outlineOf } from "../plan.ts";
import type { Chain } from "./place.ts";

// 1. A value without expressions is given as it is.
// 2. An expression over what is known before the run is evaluated now: references of the pipeline can read it.
// 3. Any other is left to the stage, which evaluates it when it begins. So is a value that would be taken for an
//    expression: what a value says is never evaluated.

type Around = { readonly document: PipelineDocument; readonly facts: EarlyFacts };

export type GivenInputs = {
  /** What stands under `pipeline` in the inputs. */
  readonly known: Readonly<Record<string, unknown>>;
  readonly late: readonly ChainedInput[];
};

/**
 * `read` reads the pipeline; it is asked where there are expressions. Throws `pipeline.bad_inputs` for an expression that
 * a variable of the pipeline cannot take.
 */
export async function givenInputs(
  chain: Chain,
  around: Around,
  read: () => Promise<PipelineDocument>,
): Promise<GivenInputs> {
  const { inputs } = chain.spec;
  const open = variablesGiven(chain.spec).filter(({ value }) => value.includes("<+"));
  if (!inputs || open.length === 0) return { known: inputs ?? {}, late: [] };
  const child = await read();
  const evaluate = evaluator(chain, around);
  const faults: Fault[] = [];
  const values = new Map<unknown, string>();
  const late: ChainedInput[] = [];
  for (const { name, value, path } of open) {
    const variable = (child.variables ?? []).find((one) => one.name === name);
    const message = faultOf(name, variable);
    if (message !== undefined || !variable) {
      // As one of the pipeline: its place is found where all of them are.
      faults.push({ path: pathText(["pipeline", ...path.slice(1)]), message: message ?? "" });
      continue;
    }
    const known = evaluate(value);
    if (known === undefined || known.includes("<+")) late.push(lateInput(variable, value));
    else values.set(path[2], known);
  }
  if (faults.length > 0)
    throw problem("pipeline.bad_inputs", [faults.map(({ path, message }) => `${path}: ${message}`).join("; ")], {
      faults,
    });
  const isLate = new Set(late.map(({ name }) => name));
  const variables = (inputs["variables"] as readonly { readonly name: string }[]).flatMap((one, nth) => {
    if (isLate.has(one.name)) return [];
    return [values.has(nth) ? { ...one, value: values.get(nth) } : one];
  });
  return { known: { ...inputs, variables }, late };
}

function faultOf(name: string, variable: VariableDocument | undefined): string | undefined {
  if (!variable) return `The pipeline has no '${name}' here`;
  if (!isMarker(variable.value)) return "This is fixed by the pipeline; only its runtime inputs can be given";
  if (variable.type === "Secret") return "The reference of a secret is written out: an expression cannot choose it";
  return undefined;
}

function evaluator({ stage }: Chain, { document, facts }: Around): (value: string) => string | undefined {
  let outline: ReturnType<typeof outlineOf> | undefined;
  const budget: Budget = newBudget();
  return (value) => {
    if (!referencesOf(value).every(({ path }) => isKnownAtStart(path))) return undefined;
    let last = 0;
    outline ??= outlineOf(document, { ...facts, execution: null }, () => `n${(last += 1)}`);
    const { plan, idOf } = outline;
    try {
      return evaluateTemplate(
        value,
        scopeFor(plan, () => undefined, idOf(stage)),
        budget,
      );
    } catch (error) {
      if (error instanceof ExpressionError) return undefined;
      throw error;
    }
  };
}

function lateInput({ name, type, required, value: marker }: VariableDocument, value: string): ChainedInput {
  const read = readMarker(String(marker));
  const { allowed, isMany, regex } = "fault" in read ? {} : read;
  return {
    ...{ name, value },
    ...(type === "Number" && { type }),
    ...(required === true && { isRequired: true }),
    ...(allowed && { allowed }),
    ...(isMany && { isMany }),
    ...(regex !== undefined && { pattern: regex }),
  };
}

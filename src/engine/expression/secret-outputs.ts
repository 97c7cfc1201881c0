/** Output variables of the type Secret. The state has the id of what is sealed, and nothing of the value. */
import type { Json, Output } from "../model.ts";
import { ExpressionError } from "./error.ts";
import { placeAt } from "./evaluate.ts";
import { jsonPlace, type Place, type Scope } from "./place.ts";
import { barePath } from "./secrets.ts";
import type { Expression } from "./syntax.ts";
import { parseTemplate } from "./template.ts";

/** What is shown and stored in place of a secret. */
export const MASK = "**************";

/** What a path to an output variable leads to. */
export const outputPlace = ({ value, secret }: Output): Place =>
  secret === undefined ? jsonPlace(value) : sealed(secret);

const nothing = (): undefined => undefined;

const sealed = (secret: string): Place => ({
  get value(): never {
    throw new ExpressionError(
      "place",
      "it is a secret output: it stands alone in its expression, in a script or in the value of an environment variable",
      0,
    );
  },
  secret,
  member: nothing,
  keys: () => [],
  notYet: nothing,
});

/** The output of a step as a place. `value`: all of it, with a mask for each secret. */
export function placeOfOutput(value: Json, outputs: readonly Output[]): Place {
  const place = jsonPlace(value);
  const secrets = outputs.filter(({ secret }) => secret !== undefined);
  const variables = secrets.length === 0 ? undefined : place.member("outputVariables");
  if (!variables) return place;
  const known = new Map<string | number, Place>(secrets.map((one) => [one.name, outputPlace(one)]));
  const guarded: Place = { ...variables, member: (key) => known.get(key) ?? variables.member(key) };
  return { ...place, member: (key) => (key === "outputVariables" ? guarded : place.member(key)) };
}

/** The id of the secret output that an expression is, with nothing around it and all of it written out. */
export function secretOutputOf(node: Expression, scope: Scope): string | undefined {
  if (barePath(node) === undefined) return undefined;
  try {
    return placeAt(scope, node).secret;
  } catch (error) {
    // Said where the expression is evaluated.
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** Whether a text has an expression that is a secret output. Throws ExpressionError on bad syntax. */
export const readsSecretOutput = (text: string, scope: Scope): boolean =>
  mayReadOutputs(text) &&
  parseTemplate(text).parts.some(
    (part) => part.kind === "expression" && secretOutputOf(part.node, scope) !== undefined,
  );

/** Whether a text may read output variables, by its words. */
export const mayReadOutputs = (text: string): boolean =>
  text.includes("outputVariables") || text.includes("exportedVariables");

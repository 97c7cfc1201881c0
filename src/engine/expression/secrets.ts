import type { SecretUse } from "../model.ts";
import { SECRETS } from "./roots.ts";
import { type Expression, stepOf } from "./syntax.ts";
import { parseTemplate } from "./template.ts";

const FUNCTIONS: ReadonlyMap<string, SecretUse["as"]> = new Map([
  ["getValue", "value"],
  ["getAsFile", "file"],
]);

/** What the whole of an expression asks for, as in `secrets.getValue("account.x")`; undefined for any other. */
export function secretOf(node: Expression): SecretUse | undefined {
  if (node.kind !== "call" || node.of?.kind !== "root" || node.of.name !== SECRETS) return undefined;
  const as = FUNCTIONS.get(node.name);
  const reference = node.args[0];
  if (!as || node.args.length !== 1 || reference?.kind !== "literal" || typeof reference.value !== "string")
    return undefined;
  return { reference: reference.value, as };
}

/** A secret that a text asks for. */
export type SecretIn = SecretUse & { readonly offset: number };

/** Those of a text, in its order. Throws ExpressionError on bad syntax. */
export function secretsIn(text: string): readonly SecretIn[] {
  if (!text.includes(SECRETS)) return [];
  return parseTemplate(text).parts.flatMap((part) => {
    const use = part.kind === "expression" ? secretOf(part.node) : undefined;
    return use ? [{ ...use, offset: part.start }] : [];
  });
}

/** The text with every expression that is nothing but a path replaced by what `of` answers for it, if it answers. */
export function replacePaths(text: string, of: (path: readonly (string | number)[]) => string | undefined): string {
  return parseTemplate(text)
    .parts.map((part) => {
      const path = part.kind === "expression" ? barePath(part.node) : undefined;
      return (path && of(path)) ?? part.text;
    })
    .join("");
}

/** The path that an expression is, with nothing around it and all of it written out. */
export function barePath(node: Expression): readonly (string | number)[] | undefined {
  if (node.kind === "root") return [node.name];
  const step = stepOf(node);
  const base = step && barePath(step.of);
  if (!base || step.key.kind !== "literal") return undefined;
  const { value } = step.key;
  return typeof value === "string" || typeof value === "number" ? [...base, value] : undefined;
}

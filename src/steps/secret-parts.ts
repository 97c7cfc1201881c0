import { parseTemplate, type Scope, secretOf, secretOutputOf, type SecretUse } from "../engine/index.ts";

type Expression = Extract<ReturnType<typeof parseTemplate>["parts"][number], { kind: "expression" }>;

/** Texts of a task with secrets in them. */
export type SecretParts = {
  /** The secrets of all texts, each once. */
  readonly uses: readonly SecretUse[];
  /** A text in parts: those that are numbers are places in `uses`. Throws ExpressionError. */
  readonly partsOf: (template: string, evaluate: (text: string) => string) => readonly (string | number)[];
};

/** Values are put in on the delegate, so that no plan, state or task holds one. */
export function createSecretParts(scope: Scope): SecretParts {
  const uses: SecretUse[] = [];
  const place = (use: SecretUse): number => {
    const known = uses.findIndex((one) => isSame(one, use));
    return known < 0 ? uses.push(use) - 1 : known;
  };
  return {
    uses,
    partsOf: (template, evaluate) =>
      parseTemplate(template).parts.map((part) => {
        const use = part.kind === "expression" ? (secretOf(part.node) ?? outputUse(part, scope)) : undefined;
        return use ? place(use) : evaluate(part.text);
      }),
  };
}

const isSame = (one: SecretUse, other: SecretUse): boolean =>
  one.reference === other.reference && one.as === other.as && one.output === other.output;

/** Characters of an expression that a delegate takes as the label of a secret. */
const MAX_LABEL = 256;

function outputUse({ node, text }: Expression, scope: Scope): SecretUse | undefined {
  const output = secretOutputOf(node, scope);
  return output === undefined ? undefined : { reference: text.slice(2, -1).slice(0, MAX_LABEL), as: "value", output };
}

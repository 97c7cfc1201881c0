import { parseTemplate, type SecretUse, secretOf } from "../engine/index.ts";

/** Texts of a task with secrets in them. */
export type SecretParts = {
  /** The secrets of all texts, each once. */
  readonly uses: readonly SecretUse[];
  /** A text in parts: those that are numbers are places in `uses`. Throws ExpressionError. */
  readonly partsOf: (template: string, evaluate: (text: string) => string) => readonly (string | number)[];
};

/** Values are put in on the delegate, so that no plan, state or task holds one. */
export function createSecretParts(): SecretParts {
  const uses: SecretUse[] = [];
  const place = (use: SecretUse): number => {
    const known = uses.findIndex(({ reference, as }) => reference === use.reference && as === use.as);
    return known < 0 ? uses.push(use) - 1 : known;
  };
  return {
    uses,
    partsOf: (template, evaluate) =>
      parseTemplate(template).parts.map((part) => {
        const use = part.kind === "expression" ? secretOf(part.node) : undefined;
        return use ? place(use) : evaluate(part.text);
      }),
  };
}

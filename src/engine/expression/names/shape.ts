/** What names of an expression lead to: the vocabulary of the table in roots.ts and types.ts. */

/**
 * `any` is JSON of a document or a payload, whose members are not known before the run. `mapOf` has members that a
 * pipeline names.
 */
export type Shape =
  | "text"
  | "number"
  | "boolean"
  | "list"
  | "any"
  | { readonly type: TypeName }
  | { readonly mapOf: Shape };

export type TypeName =
  | "Pipeline"
  | "Person"
  | "Stage"
  | "StageSpec"
  | "Execution"
  | "Step"
  | "Output"
  | "StepGroup"
  | "Service"
  | "Environment"
  | "Infrastructure"
  | "Trigger"
  | "Account"
  | "Organization"
  | "Project"
  | "Repeat"
  | "Strategy"
  | "StepInputs"
  | "Approval";

/** A name and what it leads to. */
export type NameRow = {
  readonly name: string;
  readonly shape: Shape;
  readonly description: string;
  /** Pipelines of this kind use the name, and this version has no value for it. */
  readonly isRefused?: true;
};

export type TypeRow = {
  readonly description: string;
  readonly members: readonly NameRow[];
  /** Other members are those of the document. */
  readonly isOpen?: true;
};

/** `signature` has the form `name: shape`; the name of a type, `map of` and a shape, or a plain shape. */
export function name(signature: string, description: string): NameRow {
  const [title = "", shape = "any"] = signature.split(": ");
  return { name: title, shape: shapeOf(shape), description };
}

function shapeOf(text: string): Shape {
  if (text.startsWith("map of ")) return { mapOf: shapeOf(text.slice("map of ".length)) };
  if (text === "text" || text === "number" || text === "boolean" || text === "list" || text === "any") return text;
  return { type: text as TypeName };
}

/** Names without a value in this version, in one text. */
export const refused = (names: string): readonly NameRow[] =>
  names.split(/\s+/).map((one) => ({ name: one, shape: "any", description: "", isRefused: true }));

/** How the documentation writes a shape. */
export function shapeText(shape: Shape): string {
  if (typeof shape === "string") return shape === "any" ? "any value" : shape;
  return "type" in shape ? shape.type : `${shapeText(shape.mapOf)} by name`;
}

/**
 * What is wrong: the text is no expression (`syntax`), it names something this
 * version does not run (`unsupported`), no document has such a name (`unknown`),
 * a path leads nowhere in this run (`unresolved`), a value has the wrong type
 * (`type`), a limit is reached (`limit`), or it stands where a script cannot take
 * its value (`place`).
 */
export type ExpressionFault = "syntax" | "unsupported" | "unknown" | "unresolved" | "type" | "limit" | "place";

const VERBS: Readonly<Record<ExpressionFault, string>> = {
  syntax: "is not valid",
  unsupported: "is not supported yet",
  unknown: "cannot be resolved",
  unresolved: "cannot be resolved",
  type: "cannot be evaluated",
  limit: "is too large",
  place: "cannot stand here",
};

/** Longer expressions are cut when a message quotes them. */
const QUOTED_CHARS = 120;

/** The only thing that parsing and evaluating throw. Messages name paths and types, never values. */
export class ExpressionError extends Error {
  readonly fault: ExpressionFault;
  /** UTF-16 units from the start of the text that was given. */
  readonly offset: number;

  constructor(fault: ExpressionFault, message: string, offset: number) {
    super(message);
    this.name = "ExpressionError";
    this.fault = fault;
    this.offset = offset;
  }
}

/** The same error, said of the expression it was found in: `Expression <+a.b> cannot be resolved: …`. */
export function aboutExpression(error: ExpressionError, expression: string): ExpressionError {
  const quoted = expression.length > QUOTED_CHARS ? `${expression.slice(0, QUOTED_CHARS)}…` : expression;
  return new ExpressionError(error.fault, `Expression ${quoted} ${VERBS[error.fault]}: ${error.message}`, error.offset);
}

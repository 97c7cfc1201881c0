const EXPRESSION = /^\s*<\+\s*executionInput\b/;

/** Whether a value of a document that is filled in is what the node gets when it begins. Only the platform writes it. */
export const isInputExpression = (value: unknown): boolean => typeof value === "string" && EXPRESSION.test(value);

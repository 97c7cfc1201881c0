/** Ends the program with `exitCode`; `message` is for the operator. */
export class Fault extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = "Fault";
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. */
export const usageError = (message: string): Fault => new Fault(message, 2);
/** The machine or the work folder does not allow the start. */
export const startError = (message: string): Fault => new Fault(message, 1);

/** An input of a step cannot be used: the step fails, and its message names the reason. */
export class UnusableInputError extends Error {}

/** The code of a system error, as in `ENOENT`; undefined for anything else. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

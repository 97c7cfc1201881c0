/** Ends the program: `message` for the person who started it, `exitCode` for whatever did. */
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
/** The machine or the work folder does not allow it. */
export const startError = (message: string): Fault => new Fault(message, 1);

/** What a step was given cannot be used: the step fails for that reason, which is told to people. */
export class UnusableInputError extends Error {}

/** The code of a system error, as in `ENOENT`; undefined for anything else. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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

/** A file system that has no space left, told by a program that does not pass on the system's error. */
export class FullDiskError extends Error {
  readonly code = "ENOSPC";
}

/** The file system has no space or no inodes left, or the user's quota is used up. */
export const isFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");

/** The message of an error; any other thrown value as text. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

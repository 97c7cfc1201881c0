import type { Refusal } from "./refused.ts";

/**
 * Every failure has a code, declared once in its slice's `problems.ts` as
 * `"slice.what": [HTTP status, wire code, message]`. `%s` in the message takes
 * the arguments in order. The message is for the caller; the cause is for the log.
 */
export type ProblemTable = Readonly<Record<string, readonly [status: number, wire: string, message: string]>>;

/** One fault inside a document: its path and what is wrong. Line and column count from 1. */
export type Fault = {
  readonly path: string;
  readonly message: string;
  readonly about?: { readonly [field in "hint" | "stage" | "step"]?: unknown };
  readonly line?: number;
  readonly column?: number;
};

/** What a problem has besides its code and message. */
export type ProblemDetails = {
  readonly faults?: readonly Fault[];
  readonly cause?: unknown;
  readonly retryAfter?: number;
  readonly refusal?: Refusal | undefined;
  readonly currentVersion?: number;
};

/** A failure whose code and message are for the caller. The message of any other error is for the log only. */
export class Problem extends Error {
  /** Railhead's code, as in `project.not_found`. */
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  /** The code that clients of this API family know, as in `DUPLICATE_FIELD`. */
  readonly wire: string;
  /** The faults of a document; empty for other problems. */
  readonly faults: readonly Fault[];
  /** Seconds after which a retry makes sense (429 and 503). */
  readonly retryAfter: number | undefined;
  /**
   * Present if the audit trail records the problem as a refusal whatever its status. A problem that replaces another
   * one takes it over.
   */
  readonly refusal: Refusal | undefined;
  /** Of a resource that has changed since the caller read it. */
  readonly currentVersion: number | undefined;

  constructor(code: string, status: number, wire: string, message: string, more: ProblemDetails = {}) {
    const { stackTraceLimit } = Error;
    // A problem of the caller is an answer. No log shows where it was made, and finding that out takes most of its
    // time.
    if (status < 500) Error.stackTraceLimit = 0;
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Problem";
    this.code = code;
    this.status = status;
    this.wire = wire;
    this.faults = more.faults ?? [];
    this.retryAfter = more.retryAfter;
    this.refusal = more.refusal;
    this.currentVersion = more.currentVersion;
  }
}

/** Returns the function that creates problems of one table: `problem("project.not_found", ["x"])`. */
export function problemsOf<T extends ProblemTable>(table: T) {
  return (code: keyof T & string, args: readonly string[] = [], more: ProblemDetails = {}): Problem => {
    const entry = table[code];
    if (!entry) throw new Error(`no problem is declared as ${code}`);
    const [status, wire, message] = entry;
    let next = 0;
    // A replacer function, because `$&` in an argument must stay unchanged.
    const text = message.replace(/%s/g, () => args[next++] ?? "");
    return new Problem(code, status, wire, text, more);
  };
}

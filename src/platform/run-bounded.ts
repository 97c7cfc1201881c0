/**
 * Runs a program that the operator has named: without a shell, bounded in time and output, with all that it started.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export type BoundedRun = {
  /** The program and its arguments. */
  readonly words: readonly string[];
  readonly input?: Buffer;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Bytes of its standard output at most. */
  readonly maxOutput: number;
};

export type BoundedOutcome = {
  readonly output: Buffer;
  /** The end of what it wrote to standard error. It may hold anything: show it by `quoteErrorOutput` only. */
  readonly errorOutput: string;
} & ({ readonly code: number } | { readonly code: null; readonly why: string });

const MAX_ERROR_OUTPUT = 2_000;

/** Never rejects: a program that cannot be started, takes too long or says too much has the code null and a reason. */
export function runBounded({ words, input, env, timeoutMs, maxOutput }: BoundedRun): Promise<BoundedOutcome> {
  const [program = "", ...args] = words;
  // A group of its own, so that what it has started ends with it.
  const child = spawn(program, args, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
  const pages: Buffer[] = [];
  let [size, errorOutput] = [0, ""];
  return new Promise((resolve) => {
    const end = (outcome: { code: number } | { code: null; why: string }): void => {
      clearTimeout(late);
      resolve({ ...outcome, output: Buffer.concat(pages), errorOutput });
    };
    const stop = (why: string): void => {
      killGroup(child);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      end({ code: null, why });
    };
    const late = setTimeout(() => stop(`it took longer than ${timeoutMs / 1_000} s`), timeoutMs);
    child.once("error", (error) => end({ code: null, why: `it cannot be started (${error.message})` }));
    child.stdin.on("error", () => undefined); // it may end without reading
    child.stdin.end(input);
    child.stdout.on("data", (page: Buffer) => {
      size += page.length;
      if (size > maxOutput) return stop(`it printed more than ${maxOutput} bytes`);
      pages.push(page);
    });
    child.stderr.on(
      "data",
      (page: Buffer) => void (errorOutput = (errorOutput + page.toString("utf8")).slice(-MAX_ERROR_OUTPUT)),
    );
    child.once("close", (code, signal) =>
      end(code === null ? { code, why: `it was ended by ${signal ?? "a signal"}` } : { code }),
    );
  });
}

const MAX_QUOTED = 300;

/** The error output for a message, without anything that might be a key. */
export function quoteErrorOutput(errorOutput: string): string {
  const text = errorOutput
    .replaceAll(/[A-Za-z0-9+/=_-]{32,}/g, "[…]")
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return text === "" ? "" : `, and said: ${text.slice(0, MAX_QUOTED)}`;
}

function killGroup({ pid }: ChildProcessByStdio<Writable, Readable, Readable>): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Gone meanwhile.
  }
}

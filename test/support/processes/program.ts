/**
 * A program of the platform as a process. A test can wait for its output; the output is part of the error if it ends
 * early.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../../cli/railhead.js", import.meta.url));
const PATIENCE_MS = 30_000;

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly ms: number };

export type Program = {
  readonly child: ChildProcess;
  /** All output on stdout so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /**
   * Returns the match of the pattern in past or future output of both streams. Rejects if the program ends without a
   * match.
   */
  readonly waitForOutput: (wanted: RegExp) => Promise<RegExpExecArray>;
  readonly exited: Promise<Ended>;
  /** Sends the signal and waits for the end. `ms` counts from the signal. */
  readonly end: (signal: NodeJS.Signals) => Promise<Ended>;
};

export type ProgramOptions = {
  readonly args: readonly string[];
  /** The whole environment except PATH, HOME and LANG. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Shell words before the command, for example `exec`. Undefined starts the program without a shell. */
  readonly by?: string | undefined;
};

/** Starts `railhead …` as the leader of a new process group. */
export function startProgram({ args, env, cwd, by }: ProgramOptions): Program {
  const usual = { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: process.env["LANG"] };
  const words = [process.execPath, LAUNCHER, ...args];
  const [file = "", ...rest] = by === undefined ? words : ["/bin/sh", "-c", `${by} "$@"`, "sh", ...words];
  const child = spawn(file, rest, {
    cwd,
    env: { ...usual, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const out = record(child.stdout);
  const err = record(child.stderr);
  const started = performance.now();
  const exited: Promise<Ended> = once(child, "exit").then(([code, signal]) => ({
    code,
    signal,
    ms: performance.now() - started,
  }));

  async function waitForOutput(wanted: RegExp): Promise<RegExpExecArray> {
    const late = once(AbortSignal.timeout(PATIENCE_MS), "abort").then(() =>
      Promise.reject(new Error(`The program has not printed ${String(wanted)}:\n${out.text()}${err.text()}`)),
    );
    late.catch(() => {});
    for (;;) {
      const found = wanted.exec(out.text()) ?? wanted.exec(err.text());
      if (found) return found;
      if (out.isOver() && err.isOver())
        throw new Error(`The program ended without printing ${String(wanted)}:\n${out.text()}${err.text()}`);
      await Promise.race([out.more(), err.more(), late]);
    }
  }

  return {
    child,
    stdout: out.text,
    stderr: err.text,
    waitForOutput,
    exited,
    end: async (signal) => {
      const from = performance.now();
      child.kill(signal);
      const ended = await exited;
      return { ...ended, ms: performance.now() - from };
    },
  };
}

/** Runs a program that ends by itself. Returns its end and its output. */
export async function runProgram(options: ProgramOptions): Promise<Ended & { stdout: string; stderr: string }> {
  const program = startProgram(options);
  const [ended] = await Promise.all([program.exited, once(program.child, "close")]);
  return { ...ended, stdout: program.stdout(), stderr: program.stderr() };
}

function record(stream: Readable): { text: () => string; isOver: () => boolean; more: () => Promise<void> } {
  let text = "";
  let over = false;
  let next = Promise.withResolvers<void>();
  const tell = (): void => {
    next.resolve();
    // A closed stream sends no more. Callers that still wait then wait for the other stream only.
    next = Promise.withResolvers();
  };
  stream.setEncoding("utf8");
  stream.on("data", (part: string) => {
    text += part;
    tell();
  });
  stream.once("close", () => {
    over = true;
    tell();
  });
  return { text: () => text, isOver: () => over, more: () => next.promise };
}

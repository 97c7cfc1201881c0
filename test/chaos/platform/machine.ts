/**
 * A server or delegate process that can be killed, stopped and started, and that is restarted when it ends by itself.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as rest } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ProcessName } from "../names.ts";

const LAUNCHER = fileURLToPath(new URL("../../../cli/railhead.js", import.meta.url));
const LOOK_MS = 50;
/** A process that ends by itself is restarted after this time, as by a process manager. */
const RESTART_MS = 1_000;

export type Machine = {
  readonly name: ProcessName;
  /** Starts the process unless it runs, without waiting until it is ready. */
  readonly start: () => void;
  /** Ends the process and keeps it down until `start`. Resolves when it has ended. */
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>;
  /** Undefined while the process is down. */
  readonly pid: () => number | undefined;
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void;
  /** Returns the match of the pattern in the output of the current process, if there is one. */
  readonly matchOutput: (pattern: RegExp) => RegExpExecArray | undefined;
  /** Waits for a match of the pattern. Rejects after `ms`. */
  readonly waitForOutput: (pattern: RegExp, ms: number) => Promise<void>;
  /** Descriptions of unrequested ends. */
  readonly crashes: readonly string[];
};

export type MachineOptions = {
  readonly name: ProcessName;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** File for all of its output. */
  readonly log: string;
};

export function createMachine({ name, args, env, cwd, log }: MachineOptions): Machine {
  const crashes: string[] = [];
  let child: ChildProcess | undefined;
  let began = 0;
  let isWanted = false;

  const start = (): void => {
    isWanted = true;
    // A server that drains for long can be killed meanwhile: both faults start it again.
    if (child) return;
    const file = openSync(log, "a", 0o600);
    began = statSync(log).size;
    const started = spawn(process.execPath, [LAUNCHER, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: process.env["LANG"], ...env },
      stdio: ["ignore", file, file],
      // Ctrl-C reaches only the chaos program, which then ends all others.
      detached: true,
    });
    closeSync(file);
    child = started;
    // Ends the process if the chaos program ends without calling `end`.
    const ended = (): void => void started.kill("SIGKILL");
    process.once("exit", ended);
    started.once("exit", () => process.off("exit", ended));
    started.once("exit", (code, signal) => {
      if (child !== started) return;
      child = undefined;
      if (!isWanted) return;
      crashes.push(`code ${code}, signal ${signal}: ${lastLine(log, began)}`);
      setTimeout(() => isWanted && child === undefined && start(), RESTART_MS).unref();
    });
  };

  const matchOutput: Machine["matchOutput"] = (pattern) => pattern.exec(textFrom(log, began)) ?? undefined;

  return {
    name,
    start,
    end: async (signal) => {
      isWanted = false;
      const ending = child;
      if (!ending) return;
      const ended = once(ending, "exit");
      ending.kill(signal);
      // A stopped process handles no signal but SIGKILL.
      ending.kill("SIGCONT");
      await ended;
    },
    pid: () => child?.pid,
    signal: (signal) => void child?.kill(signal),
    matchOutput,
    waitForOutput: async (pattern, ms) => {
      for (const end = performance.now() + ms; !matchOutput(pattern); await rest(LOOK_MS))
        if (performance.now() > end) throw new Error(`${name} has not printed ${String(pattern)}; see ${log}`);
    },
    crashes,
  };
}

const MAX_READ = 64 * 1024;

/** Reads the beginning of the file's text from this position on. */
function textFrom(file: string, from: number): string {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(MAX_READ);
    return bytes.subarray(0, readSync(fd, bytes, 0, MAX_READ, from)).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

function lastLine(file: string, from: number): string {
  const { size } = statSync(file);
  return (
    textFrom(file, Math.max(from, size - 2_000))
      .trimEnd()
      .split("\n")
      .at(-1) ?? ""
  );
}

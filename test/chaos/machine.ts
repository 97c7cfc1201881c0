/** A server or a delegate as a process that is killed, stopped and started again, and that an init system watches over. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as rest } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ProcessName } from "./names.ts";

const LAUNCHER = fileURLToPath(new URL("../../cli/railhead.js", import.meta.url));
const LOOK_MS = 50;
/** As a process manager does: what ends by itself is started again after this time. */
const RESTART_MS = 1_000;

export type Machine = {
  readonly name: ProcessName;
  /** Starts the process; resolves at once. */
  readonly start: () => void;
  /** Ends it and keeps it down until `start`. Resolves when it has ended. */
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>;
  /** Undefined while it is down. */
  readonly pid: () => number | undefined;
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void;
  /** What the pattern finds in what the present process has written; undefined while there is none. */
  readonly said: (pattern: RegExp) => RegExpExecArray | undefined;
  /** The same, waited for. Rejects after `ms`. */
  readonly untilSaid: (pattern: RegExp, ms: number) => Promise<void>;
  /** How it ended without being asked, one text for each time. */
  readonly crashes: readonly string[];
};

export type MachineOptions = {
  readonly name: ProcessName;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Everything that it writes. */
  readonly log: string;
};

export function createMachine({ name, args, env, cwd, log }: MachineOptions): Machine {
  const crashes: string[] = [];
  let child: ChildProcess | undefined;
  let began = 0;
  let isWanted = false;

  const start = (): void => {
    isWanted = true;
    const file = openSync(log, "a", 0o600);
    began = statSync(log).size;
    const started = spawn(process.execPath, [LAUNCHER, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: process.env["LANG"], ...env },
      stdio: ["ignore", file, file],
      // Ctrl-C reaches the chaos program alone, which then ends all others.
      detached: true,
    });
    closeSync(file);
    child = started;
    // Should our process end without `end`, it ends with it.
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

  const said: Machine["said"] = (pattern) => pattern.exec(textFrom(log, began)) ?? undefined;

  return {
    name,
    start,
    end: async (signal) => {
      isWanted = false;
      const ending = child;
      if (!ending) return;
      const ended = once(ending, "exit");
      ending.kill(signal);
      // A stopped process takes only SIGKILL.
      ending.kill("SIGCONT");
      await ended;
    },
    pid: () => child?.pid,
    signal: (signal) => void child?.kill(signal),
    said,
    untilSaid: async (pattern, ms) => {
      for (const end = performance.now() + ms; !said(pattern); await rest(LOOK_MS))
        if (performance.now() > end) throw new Error(`${name} does not say ${String(pattern)}; see ${log}`);
    },
    crashes,
  };
}

const MAX_READ = 64 * 1024;

/** The beginning of what stands in the file from this place on. */
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

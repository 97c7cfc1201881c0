/** For the delegate's own tests: work folders, delegates in this process and as processes, shell pieces. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pino } from "pino";
import { baseFolder } from "./base-folder.ts";
import { type Delegate, type Settings, startDelegate, type DelegateDeps } from "../delegate.ts";
import type { Log } from "../log.ts";
import { isAlive, type ProcessIdentity, processInfo } from "../processes/processes.ts";
import { systemTimers } from "../timers.ts";
import { readOrCreateIdentity, prepareWorkDir } from "../work-folder/work-dir.ts";
import { createRuntimeFolder } from "../work-folder/runtime-path.ts";
import type { PretendServer } from "./pretend-server.ts";
import { stepProcess } from "./step-process.ts";

export const TOKEN = "test-token-5f1e";
const MAIN = new URL("../main.ts", import.meta.url).pathname;

export const silentLog = (): Log => pino({ level: "silent" });

/** Short, so that no test waits for a period to pass; what a test waits for are events. */
export const QUICK = { graceMs: 50, leftoverGraceMs: 50, flushMs: 2, pollMs: 100, heartbeatMs: 60_000 };

export type Place = { readonly path: string; readonly remove: () => void; readonly tasks: () => readonly string[] };

/** A work folder of its own, in a place that every user can reach. */
export function createPlace(): Place {
  const path = mkdtempSync(join(tmpdir(), "railhead-delegate-test-"));
  return {
    path,
    remove: () => rmSync(path, { recursive: true, force: true }),
    tasks: () => readdirSync(join(path, "tasks")),
  };
}

/**
 * Where the delegate on this work folder has the lock of its identity and keeps secrets. It is made if it is not there.
 */
export function runtimeFolderOf({ path }: Pick<Place, "path">): string {
  const isRoot = process.getuid?.() === 0;
  return (
    createRuntimeFolder(readOrCreateIdentity(prepareWorkDir(path, isRoot)), isRoot).lock ??
    assert.fail("the folder cannot be made")
  );
}

/** A folder to leave signs in, for steps of every user. */
export function createSignalFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(baseFolder(), "railhead-signs-"));
  chmodSync(path, 0o777);
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

export const settingsFor = (
  server: Pick<PretendServer, "socketUrl">,
  place: Place,
  more: Partial<Settings> = {},
): Settings => ({
  socketUrl: server.socketUrl,
  token: TOKEN,
  name: "tester",
  tags: ["a", "b"],
  workDir: place.path,
  slots: 4,
  stepUser: undefined,
  stepPath: undefined,
  belongsTo: undefined,
  ...more,
});

/** A delegate in this process, connected and welcomed. */
export async function connectDelegate(
  server: PretendServer,
  place: Place,
  more: Partial<DelegateDeps> = {},
): Promise<Delegate> {
  const around = { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog(), ...more };
  // A delegate that was just stopped may still be connected.
  const welcome = server.nextWelcome();
  const delegate = await startDelegate(settingsFor(server, place), around);
  await welcome;
  return delegate;
}

export type DelegateProcess = {
  readonly child: ChildProcess;
  readonly kill: () => Promise<void>;
  readonly exited: Promise<number | null>;
  /** All it wrote to standard error, once it has ended. */
  readonly errors: Promise<string>;
};

/**
 * `railhead delegate` as a process of its own.
 * @param within the beginning of a command that starts it; it must not fork
 */
export function spawnDelegate(
  args: readonly string[],
  env: Record<string, string> = {},
  within: readonly string[] = [],
): DelegateProcess {
  const [program = process.execPath, ...rest] = [...within, process.execPath, MAIN, ...args];
  const child = spawn(program, rest, {
    stdio: ["pipe", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stderr }).on("line", (line) => lines.push(line));
  const closed = new Promise<void>((resolve) => reader.once("close", resolve));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    child,
    exited,
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    errors: closed.then(() => lines.join("\n")),
  };
}

export const optionsFor = (server: PretendServer, place: Place): readonly string[] => [
  "--url",
  server.url,
  "--name",
  "tester",
  "--work-dir",
  place.path,
];

type Lease = { readonly task: string; readonly epoch: number };

export const folderOf = (place: Place, { task, epoch }: Lease): string => join(place.path, "tasks", `${task}.${epoch}`);

/** Makes a file in a running step's working directory: the sign that its script waits for. */
export function createSignal(place: Place, lease: Lease, name: string): void {
  writeFileSync(join(folderOf(place, lease), "work", name), "");
}

/** Settles once the file is there and holds the text. Its folder must exist. */
export function fileHolds(path: string, text: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!existsSync(path) || !readFileSync(path, "utf8").includes(text)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(path), look);
    look();
  });
}

/**
 * Asserts that a process has ended: its pid does not exist, is a zombie, or belongs to another process.
 * @param process of a step: as found while it was alive, since the step may know it by another number
 */
export function assertEnded(process: number | ProcessIdentity, what: string): void {
  const pid = typeof process === "number" ? process : process.pid;
  const info = processInfo(pid);
  const isGone = typeof process === "number" ? info === undefined || info.isZombie : !isAlive(process);
  assert.ok(isGone, `${what} (pid ${pid}) is still alive`);
}

/** The living process of a running step whose number its script printed as `name=123`. */
export const printedProcess = (
  place: Place,
  task: Lease & { readonly output: () => Buffer },
  name: string,
): ProcessIdentity => stepProcess(folderOf(place, task), printedPid(task.output(), name));

/** The numbers that a script printed as `name=123`. */
export function printedPid(output: Buffer, name: string): number {
  const [, pid] = new RegExp(`^${name}=(\\d+)$`, "m").exec(output.toString()) ?? [];
  assert.ok(pid, `the script did not print ${name}=<pid>: ${output.toString()}`);
  return Number(pid);
}

/** Names of all variables that a Bash of this machine has by itself or gives a meaning to, readonly or not. */
export function namesOfBash(): readonly string[] {
  const listed = execFileSync("/bin/bash", ["--norc", "-c", "compgen -v"], { env: {}, encoding: "utf8" }).split("\n");
  const without = new Set(["", "_", "PATH", "IFS"]);
  const names = new Set([
    ...listed,
    "BASH_ALIASES",
    "BASH_CMDS",
    "RANDOM",
    "SRANDOM",
    "HISTCMD",
    "OPTIND",
    "POSIXLY_CORRECT",
  ]);
  return [...names].filter((name) => !without.has(name));
}

/** A step that shows whether a value in one of Bash's own variables is run as code: it prints "data" if not. */
export const valuesAsCode = (): {
  readonly script: string;
  readonly env: { name: string; value: string }[];
} => ({
  script: "if [ -e made ]; then echo code; else echo data; fi",
  env: namesOfBash().map((name) => ({ name, value: "a[$(>made)]" })),
});

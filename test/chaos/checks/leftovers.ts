/** What steps and programs leave on the machine. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { processesIn } from "../../support/processes/server-process.ts";
import { violation, type Violation } from "./violation.ts";
import type { Request } from "../load/load.ts";

/** A living process extends its file within this time. */
const GROWS_WITHIN_MS = 1_500;

export type Escapes = {
  readonly folder: string;
  /** Returns processes that outlive their step: `<number>-<way>`. They may end afterwards. */
  readonly living: (numbers: readonly number[]) => Promise<readonly string[]>;
};

export function watchEscapes(folder: string): Escapes {
  const checked = new Set<number>();
  return {
    folder,
    living: async (numbers) => {
      const fresh = new Set(numbers.filter((number) => !checked.has(number)));
      for (const number of fresh) checked.add(number);
      const files = readdirSync(folder).filter((name) => {
        const number = /^alive-(\d+)-/.exec(name)?.[1];
        return number !== undefined && fresh.has(Number(number));
      });
      const before = files.map((file) => statSync(join(folder, file)).size);
      if (files.length > 0) await rest(GROWS_WITHIN_MS);
      const grown = files.filter((file, n) => statSync(join(folder, file)).size > (before[n] ?? 0));
      for (const number of fresh) rmSync(join(folder, `go-${number}`), { force: true });
      return grown.map((file) => file.slice("alive-".length));
    },
  };
}

export function escapeViolations(living: readonly string[]): readonly Violation[] {
  return living.map((name) => {
    const [number, ...way] = name.split("-");
    return violation(
      "processes",
      `the step of request ${number}`,
      `a process that left it by the way "${way.join("-")}"`,
    );
  });
}

/** Returns processes of steps whose working directory is in the folder of a task. */
export function stepProcesses(workDirs: readonly string[]): readonly string[] {
  return workDirs
    .flatMap((folder) => [...processesIn(join(folder, "tasks")), ...processesIn(join(folder, "spare"))])
    .map(({ pid, command, cwd }) => `process ${pid} in ${cwd}: ${command.slice(0, 200)}`);
}

/** Returns the processes of a delegate that start its steps. Their working directory is outside of its folders. */
export function launchersOf(pid: number | undefined): readonly number[] {
  if (pid === undefined) return [];
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    return children.map(Number).flatMap((child) => {
      const isOne = readFileSync(`/proc/${child}/cmdline`, "utf8").startsWith("railhead launcher");
      return [...(isOne ? [child] : []), ...launchersOf(child)];
    });
  } catch {
    return []; // The process has ended.
  }
}

/** Returns folders of tasks on disk and of their secrets in memory. */
export function taskFolders(workDirs: readonly string[]): readonly string[] {
  return workDirs.flatMap((workDir) => {
    const safe = safeOf(workDir);
    return [...filesIn(join(workDir, "tasks")), ...(safe === undefined ? [] : filesIn(safe).filter(isOfTask))];
  });
}

const isOfTask = (path: string): boolean => /\/[\w-]{22}\.\d+$/.test(path);

/** Returns the folders in memory that delegates have left. */
export function memoryFolders(workDirs: readonly string[]): readonly string[] {
  return workDirs.flatMap((workDir) => safeOf(workDir) ?? []);
}

function safeOf(workDir: string): string | undefined {
  if (!existsSync(join(workDir, "identity"))) return undefined;
  const identity = readFileSync(join(workDir, "identity"), "utf8").trim();
  const name = `railhead-${createHash("sha256").update(`secrets of ${identity}`).digest("hex").slice(0, 32)}`;
  return ["/dev/shm", "/run"].map((memory) => join(memory, name)).find((path) => existsSync(path));
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];

/** Returns the times of all starts of each step in epoch milliseconds, by `<number> <step>`. */
export function readStarts(file: string): ReadonlyMap<string, readonly number[]> {
  const starts = new Map<string, number[]>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [number, step, time] = line.split(" ");
    if (number && step)
      starts.set(`${number} ${step}`, [...(starts.get(`${number} ${step}`) ?? []), Number(time) * 1_000]);
  }
  return starts;
}

/** Returns the requests whose steps must not have processes. */
export const escapesOf = (requests: readonly Request[]): readonly number[] =>
  requests.filter(({ kind }) => kind === "escape").map(({ number }) => number);

const BLOCK = Buffer.alloc(64 * 1024, "x");
const FILL = "fill";

/** Writes until the file system of the folder is full. The returned function frees the space. */
export function fillDisk(workDir: string): () => void {
  const file = join(workDir, FILL);
  for (const size of [BLOCK.length, 512, 1])
    for (;;) {
      try {
        appendFileSync(file, BLOCK.subarray(0, size));
      } catch {
        break;
      }
    }
  return () => rmSync(file, { force: true });
}

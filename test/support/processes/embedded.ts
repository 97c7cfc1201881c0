/** Shared by the tests of the embedded database: folders, a log that a test can wait for, other processes. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { DbLog } from "../../../src/platform/db/db.ts";
import { startEmbedded, type Embedded, type EmbeddedOptions } from "../../../src/platform/db/embedded/embedded.ts";
import { lockDataDir } from "../../../src/platform/db/embedded/files/lock.ts";

export const isRoot = process.geteuid?.() === 0;

/** Creates a temporary folder that other users may traverse, and the function that removes it. */
export async function temporaryFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "rh-test-"));
  await chmod(path, 0o755);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export type RecordedLog = DbLog & { readonly messages: readonly string[] };

export function recordedLog(): RecordedLog {
  const messages: string[] = [];
  const add = (_fields: object, message: string): void => void messages.push(message);
  return { debug: add, info: add, warn: add, error: add, messages };
}

/** Starts a database that frees its data directory when it stops. */
export async function startDatabase(
  dataDir: string,
  options: Partial<Omit<EmbeddedOptions, "lock">> = {},
): Promise<Embedded> {
  const lock = await lockDataDir(dataDir);
  try {
    const embedded = await startEmbedded({ lock, log: recordedLog(), ...options });
    return { ...embedded, stop: () => embedded.stop().finally(lock.release) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Starts a process that runs the text as a module. The module prints one message per line. */
export function runModule(text: string): {
  readonly child: ChildProcess;
  readonly line: (wanted: RegExp) => Promise<string>;
} {
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  return {
    child,
    line: async (wanted) => {
      for (;;) {
        const found = lines.find((line) => wanted.test(line));
        if (found !== undefined) return found;
        if (child.stdout.readableEnded)
          throw new Error(`The process ended without printing ${String(wanted)}: ${lines.join("\n")}`);
        await Promise.race([once(reader, "line"), once(reader, "close")]);
      }
    },
  };
}

/**
 * Returns the text of a module that locks and starts the database of `dataDir`, prints its log, then `ready`, and
 * waits.
 */
export function serverModule(dataDir: string): string {
  const at = (path: string): string =>
    JSON.stringify(new URL(`../../../src/platform/db/embedded/${path}`, import.meta.url).href);
  return `
    import { lockDataDir } from ${at("files/lock.ts")};
    import { startEmbedded } from ${at("embedded.ts")};
    const say = (_, message) => console.log(message);
    const lock = await lockDataDir(${JSON.stringify(dataDir)});
    console.log("locked");
    const embedded = await startEmbedded({ lock, log: { debug() {}, info: say, warn: say, error: say } });
    console.log("ready " + embedded.pid());
    setInterval(() => {}, 60000);`;
}

export async function killProcess(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

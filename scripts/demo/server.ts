/** Starts a platform for the demo as a process, with the same program as `npm start`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Facts = {
  readonly baseUrl: string;
  readonly accountId: string;
  readonly apiKey: string;
  readonly adminEmail: string;
  /** One-time. */
  readonly adminPassword: string;
};
export type RunningServer = { readonly facts: Facts; readonly stop: () => Promise<void> };

const START_MS = 60_000;
const PROGRAM = fileURLToPath(new URL("../../cli/railhead.js", import.meta.url));

/**
 * Resolves once the server is ready and its local delegate is connected. Rejects with its log if it ends or is not
 * ready in time.
 */
export async function startServer(folder: string, interrupted: AbortSignal): Promise<RunningServer> {
  const dataDir = join(folder, "data");
  const env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    LANG: process.env["LANG"],
    HOST: "127.0.0.1",
    PORT: "0",
    RAILHEAD_DATA_DIR: dataDir,
    RAILHEAD_DELEGATE_DIR: join(folder, "delegate"),
  };
  // In its own process group the server does not get Ctrl-C; the demo stops it.
  const child = spawn(process.execPath, [PROGRAM, "server"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  const log: string[] = [];
  const connected = new Promise<void>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log.push(text);
      if (text.includes('"msg":"delegate connected"')) resolve();
    });
  });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the server ended with code ${String(code)}:\n${log.join("").trim()}`);
  });
  ended.catch(() => undefined);
  const late = once(AbortSignal.timeout(START_MS), "abort").then(() => {
    throw new Error(`the server and its delegate are not ready after ${START_MS / 1000} s:\n${log.join("").trim()}`);
  });
  late.catch(() => undefined);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await ended.catch(() => undefined);
  };
  try {
    await Promise.race([
      connected,
      ended,
      late,
      once(interrupted, "abort").then(() => Promise.reject(interrupted.reason as Error)),
    ]);
    return { facts: JSON.parse(await readFile(join(dataDir, "bootstrap.json"), "utf8")) as Facts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

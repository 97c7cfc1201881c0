/**
 * Starts `cli/railhead.js server` as a process, with the embedded PostgreSQL (fsync on) and the local delegate. Only
 * its address and its folders differ from the defaults.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { get } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { endChild } from "../load/children.ts";
import { childOf } from "./processes.ts";

export type Facts = { readonly baseUrl: string; readonly accountId: string; readonly apiKey: string };

export type Server = {
  readonly facts: Facts;
  readonly pid: number;
  /** From the start of the process until /health/ready answered 200, in milliseconds. */
  readonly readyAfter: number;
  /** The local delegate's process; undefined until it is started. */
  readonly delegatePid: () => number | undefined;
  /** The connection URL of the embedded database, with the password. */
  readonly databaseUrl: () => Promise<string>;
  readonly stop: () => Promise<void>;
};

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const POLL_MS = 5;

/**
 * Creates a folder for a server's data. Steps and database may run as other users, which need access to its subfolders.
 */
export async function temporaryFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "railhead-bench-"));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Resolves when the server is ready. Rejects with the end of its log if it ends before. */
export async function startServer(
  folder: string,
  signal: AbortSignal,
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const dataDir = join(folder, "data");
  const from = performance.now();
  const child = spawn(process.execPath, [join(ROOT, "cli/railhead.js"), "server"], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      LANG: process.env["LANG"],
      HOST: "127.0.0.1",
      PORT: String(port),
      RAILHEAD_DATA_DIR: dataDir,
      RAILHEAD_DELEGATE_DIR: join(folder, "delegate"),
      ...extraEnv,
    },
    stdio: ["ignore", "ignore", "pipe"],
    // Ctrl-C signals only the benchmark, which then stops the server.
    detached: true,
  });
  const log: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log.push(text);
    if (log.length > 50) log.shift();
  });
  // If the benchmark ends early, it stops the server.
  const killServer = (): void => void child.kill("SIGTERM");
  process.once("exit", killServer);
  child.once("exit", () => process.off("exit", killServer));
  const stop = (): Promise<void> => endChild(child, "SIGTERM");
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`the server ended with code ${child.exitCode}:\n${log.join("")}`);
      await rest(POLL_MS, undefined, { signal });
    }
    const readyAfter = performance.now() - from;
    const pid = child.pid ?? 0;
    return {
      facts: await factsOf(dataDir),
      pid,
      readyAfter,
      delegatePid: () => childOf(pid, "delegate"),
      databaseUrl: () => databaseUrl(dataDir),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs `work` with a new server on an empty data directory. Stops the server and removes the directory afterwards. */
export async function withServer<T>(
  signal: AbortSignal,
  work: (server: Server) => Promise<T>,
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<T> {
  const folder = await temporaryFolder();
  try {
    const server = await startServer(folder.path, signal, extraEnv);
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  } finally {
    await folder.remove();
  }
}

/** The server writes the file before it is ready. */
const factsOf = async (dataDir: string): Promise<Facts> =>
  JSON.parse(await readFile(join(dataDir, "bootstrap.json"), "utf8")) as Facts;

async function databaseUrl(dataDir: string): Promise<string> {
  const args = [join(ROOT, "scripts/guard.js"), join(ROOT, "scripts/db.ts"), "psql-url"];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, RAILHEAD_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await once(child, "close");
  return printed.trim();
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/health/ready", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => resolve(false));
  });
}

/** Returns a free port. The server gets a fixed port, so that the benchmark can poll its readiness. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await once(probe.listen(0, "127.0.0.1"), "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

/**
 * `npm run dev`: the server with its database and its local delegate, restarted when a source
 * changes, its log in readable lines. Ctrl-C stops everything.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import process from "node:process";
import pretty from "pino-pretty";
import { root } from "./lib/files.ts";

// Watched as folders, not by what the server has imported: its delegate is a process of its own.
const watched = ["src", "protocol", "delegate", "migrations"].map(
  (folder) => `--watch-path=${path.join(root, folder)}`,
);

const server = spawn(
  process.execPath,
  [...watched, "--watch-preserve-output", path.join(root, "scripts/guard.js"), path.join(root, "src/main.ts")],
  // In a session of its own, so that Ctrl-C reaches it once, from here, and not a second time from the terminal.
  { stdio: ["ignore", "pipe", "inherit"], detached: true },
);
server.stdout.pipe(pretty({ colorize: process.stdout.isTTY, ignore: "pid,hostname", translateTime: "HH:MM:ss.l" }));

// This process stays until the database has been stopped, so that the prompt comes back after the last line.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => server.kill("SIGTERM"));
const [code] = (await once(server, "exit")) as [number | null];
process.exitCode = code ?? 0;

/**
 * `npm run dev` starts the server with its database and its local delegate, restarts it when a source file changes, and
 * prints its log in readable form. In front of it stands the development server of the web interface, which replaces
 * changed modules in open pages. Ctrl-C stops everything.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import process from "node:process";
import pretty from "pino-pretty";
import { createServer } from "vite";
import { root } from "./lib/files.ts";

const WEB_PORT = 7071;

// Whole folders are watched, because the delegate is a separate process with its own imports.
const watched = ["src", "protocol", "delegate", "migrations"].map(
  (folder) => `--watch-path=${path.join(root, folder)}`,
);

const server = spawn(
  process.execPath,
  [...watched, "--watch-preserve-output", path.join(root, "scripts/guard.js"), path.join(root, "src/main.ts")],
  // In its own session the server gets Ctrl-C only from this process, and not from the terminal, too.
  { stdio: ["ignore", "pipe", "inherit"], detached: true, env: { ...process.env, RAILHEAD_WEB_UI: "off" } },
);
server.stdout.pipe(pretty({ colorize: process.stdout.isTTY, ignore: "pid,hostname", translateTime: "HH:MM:ss.l" }));

process.env["RAILHEAD_WEB_API"] ??= `http://127.0.0.1:${process.env["PORT"] ?? "7070"}`;
const web = await createServer({
  configFile: path.join(root, "web/vite.config.ts"),
  server: { host: "127.0.0.1", port: WEB_PORT },
});
await web.listen();
web.printUrls();

// This process waits until the database has stopped, so that the prompt appears after the last line.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => server.kill("SIGTERM"));
const [code] = (await once(server, "exit")) as [number | null];
await web.close();
process.exitCode = code ?? 0;

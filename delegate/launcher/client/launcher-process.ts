/** One process of the launcher (../main.ts), and the messages to and from it. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Log } from "../../log.ts";
import { isOwnFolder } from "../../work-folder/runtime-path.ts";
import type { LauncherCommand } from "../command.ts";
import type { FromLauncher, ToLauncher } from "../messages.ts";

export type LauncherProcess = {
  readonly version: string;
  /** Folder of its pipes: without it the launcher starts no step. */
  readonly fifos: string;
  readonly root: string | undefined;
  readonly runners: Map<string, (message: FromLauncher | undefined) => void>;
  readonly kills: Map<number, (isDone: boolean) => void>;
  readonly send: (message: ToLauncher) => void;
  readonly isAlive: () => boolean;
  readonly describeEnd: () => string;
  /** Sends no further steps: the launcher ends when it is idle. */
  readonly retire: () => void;
  /** Disconnects: the launcher ends after its steps. */
  readonly detach: () => void;
};

export type LauncherProcessDeps = {
  readonly log: Pick<Log, "error">;
  /** Where it may make a folder of its own for pipes. */
  readonly folder: string;
  readonly mkfifo: string;
};

const ENDED_UNEXPECTEDLY = "The launcher of the steps has ended unexpectedly";
const MAX_ERRORS = 2_000;
/** How long a launcher may take to answer before the end of a task goes on without it. */
export const ANSWER_MS = 5_000;

export function startLauncherProcess(
  { log, folder, mkfifo }: LauncherProcessDeps,
  allocate: LauncherCommand["allocate"],
  version: string,
): LauncherProcess {
  if (!isOwnFolder(folder)) throw new Error("the folder for secrets cannot be used now");
  const fifos = join(folder, `fifos-${randomBytes(9).toString("base64url")}`);
  mkdirSync(fifos, { mode: 0o700 });
  const { argv, release } = allocate();
  const child = spawn(argv[0] ?? "", argv.slice(1), {
    cwd: "/",
    env: {},
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // A signal to the delegate's process group must not reach steps.
    detached: true,
  });
  const runners: LauncherProcess["runners"] = new Map();
  const waiting: LauncherProcess["kills"] = new Map();
  let isAlive = true;
  let isRetired = false;
  let errors = "";

  const disconnectIfIdle = (): void => {
    if (isRetired && isAlive && runners.size === 0 && waiting.size === 0 && child.connected) child.disconnect();
  };
  const ended = (why: string): void => {
    if (!isAlive) return;
    isAlive = false;
    release();
    errors ||= why;
    try {
      rmSync(fifos, { recursive: true, force: true });
    } catch {
      // The next start removes what a step has made of it.
    }
    if (!isRetired || runners.size > 0)
      log.error({ reason: errors.trim() }, "the launcher of the steps has ended unexpectedly");
    for (const hear of [...runners.values()]) hear(undefined);
    for (const resolve of [...waiting.values()]) resolve(false);
  };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-MAX_ERRORS)));
  child.once("error", (error) => ended(error.message));
  child.once("exit", (code, signal) => ended(signal ?? `exit code ${code}`));
  child.on("message", (message: FromLauncher) => {
    if (message.kind === "killed") {
      if (message.error !== undefined)
        log.error({ error: message.error }, "the processes of a user could not be killed in one call");
      waiting.get(message.id)?.(message.error === undefined);
      waiting.delete(message.id);
    } else runners.get(message.key)?.(message);
    disconnectIfIdle();
  });
  unref(child);
  const send = (message: ToLauncher): void => {
    // The event `exit` reports a failed channel.
    if (child.connected) child.send(message, () => {});
  };
  send({ kind: "setup", fifos, mkfifo });
  return {
    version,
    fifos,
    root: child.pid === undefined ? undefined : `/proc/${child.pid}/root`,
    runners,
    kills: waiting,
    send,
    isAlive: () => isAlive,
    describeEnd: () => `${ENDED_UNEXPECTEDLY}${errors === "" ? "" : `: ${errors.trim()}`}`,
    retire: () => {
      isRetired = true;
      disconnectIfIdle();
    },
    detach: () => {
      isRetired = true;
      if (child.connected) child.disconnect();
    },
  };
}

/** The launcher does not keep the delegate running. */
function unref(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
}

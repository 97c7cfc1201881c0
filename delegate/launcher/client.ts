/** Client of the launcher (main.ts), which is started with the first step and again after it has ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { textOf } from "../fault.ts";
import { isUnclaimed } from "../task-folder/journal.ts";
import type { Log } from "../log.ts";
import type { ProcessIdentity } from "../processes/processes.ts";
import { isOwnFolder } from "../work-folder/runtime-path.ts";
import { settleWithin, type Timers } from "../timers.ts";
import type { LauncherCommand } from "./command.ts";
import type { FromLauncher, StepOrder, ToLauncher } from "./messages.ts";

/** Runs a step and records how it ends. */
export type Runner = {
  /** Settles when the step has been started, or will not be. */
  readonly started: Promise<void>;
  /** The step's first process, the leader of its session. */
  readonly leader: () => ProcessIdentity | undefined;
  /** Why the step was not started, or why its end is unknown. */
  readonly failure: () => string | undefined;
  /** Words of the journal that the launcher could not write yet; empty if there are none, undefined if that is not known. */
  readonly unrecorded: () => string | undefined;
  /** The launcher runs and will record how the step ends. */
  readonly isAlive: () => boolean;
  /** The launcher has recorded how the step ended. */
  readonly hasExited: () => boolean;
  /** The launcher found that the step's user has no process any more. */
  readonly isClean: () => boolean;
  /** Completes the output file, unless the launcher does not answer. The step's processes have ended. */
  readonly release: () => Promise<void>;
  /** Calls whenever one of the above has changed, and when the step has ended. */
  readonly onChange: (look: () => void) => void;
};

/** Starts steps through a launcher process. It is replaced when it has ended or its command has another version. */
export type Launcher = {
  /** Starts the step. The runner reports errors. */
  readonly run: (order: StepOrder) => Runner;
  /** Kills all processes of the user in one system call; false when that could not be done. */
  readonly killUser: (uid: number) => Promise<boolean>;
  /** The file systems that the steps see; undefined while there is no launcher. */
  readonly root: () => string | undefined;
  /** Disconnects from the launchers: their steps continue and are recorded. */
  readonly detach: () => void;
};

export type LauncherDeps = {
  readonly log: Pick<Log, "error">;
  readonly timers: Timers;
  readonly command: () => LauncherCommand;
  /** Where it may make a folder of its own for pipes. */
  readonly folder: string;
  readonly mkfifo: string;
};

/** One process of the launcher. */
type LauncherProcess = {
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

const ENDED_UNEXPECTEDLY = "The launcher of the steps has ended unexpectedly";
const MAX_ERRORS = 2_000;
/** How long a launcher may take to answer before the end of a task goes on without it. */
export const ANSWER_MS = 5_000;

/** Starts no process before the first `run` or `killUser`. */
export function createLauncher(deps: LauncherDeps): Launcher {
  const generations = new Set<LauncherProcess>();
  let current: LauncherProcess | undefined;
  let kills = 0;

  const currentProcess = (): LauncherProcess => {
    const { allocate, version } = deps.command();
    if (current?.isAlive() && current.version === version && existsSync(current.fifos)) return current;
    current?.retire();
    for (const one of generations) if (!one.isAlive()) generations.delete(one);
    current = startLauncherProcess(deps, allocate, version);
    generations.add(current);
    return current;
  };

  /** On a full disk no other launcher can be prepared: then one that is there serves as well. */
  const processToKill = (): LauncherProcess => {
    try {
      return currentProcess();
    } catch (error) {
      if (current?.isAlive()) return current;
      throw error;
    }
  };

  /** A launcher that does not answer gets no further steps. Its steps continue, and it may still record them. */
  const replace = (one: LauncherProcess): void => {
    deps.log.error({}, "the launcher of the steps does not answer and is replaced");
    if (current === one) current = undefined;
    one.retire();
  };

  const killOnce = async (uid: number): Promise<boolean> => {
    const to = processToKill();
    kills += 1;
    const id = kills;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    to.kills.set(id, resolve);
    to.send({ kind: "kill", id, uid, until: deps.timers.elapsed() + ANSWER_MS });
    const isDone = await settleWithin(deps.timers, ANSWER_MS, promise);
    if (isDone === undefined) {
      to.kills.delete(id);
      replace(to);
    }
    return isDone ?? false;
  };

  return {
    run: (order) => createRunner(currentProcess, order, deps.timers),
    // A launcher that ended during the call, or does not answer, is replaced by a new one.
    killUser: async (uid) => {
      try {
        return (await killOnce(uid)) || (await killOnce(uid));
      } catch (error) {
        deps.log.error({ error: textOf(error) }, "no launcher could be started to kill a user's processes at once");
        return false;
      }
    },
    root: () => (current?.isAlive() ? current.root : undefined),
    detach: () => {
      for (const one of generations) one.detach();
    },
  };
}

function startLauncherProcess(
  { log, folder, mkfifo }: LauncherDeps,
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

/** Creates the runner of a step. If the launcher ends before it has claimed the step, another one starts it, once. */
function createRunner(next: () => LauncherProcess, order: StepOrder, timers: Timers): Runner {
  const { key } = order;
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let leader: ProcessIdentity | undefined;
  let failure: string | undefined;
  let unrecorded = "";
  let look = (): void => {};
  let isRepeated = false;
  let hasExited = false;
  let isClean = false;
  let isComplete = false;

  const handleMessage = (message: FromLauncher | undefined): void => {
    switch (message?.kind) {
      case "started":
        leader = { pid: message.pid, startTime: message.startTime };
        begun.resolve();
        return look();
      case "failed":
        failure = message.message;
        begun.resolve();
        return look();
      case "unrecorded":
        unrecorded = message.words;
        return look();
      case "exited":
        hasExited = true;
        ({ isClean, isComplete } = message);
        if (isComplete) {
          from.runners.delete(key);
          // Also when a release is on its way: its answer would find no runner.
          released.resolve();
        }
        return look();
      case "killed":
        return look();
      case "released":
        from.runners.delete(key);
        return released.resolve();
      case undefined:
        from.runners.delete(key);
        if (restart()) return;
        failure ??= leader ? undefined : from.describeEnd();
        begun.resolve();
        released.resolve();
        return look();
    }
  };
  const startIn = (generation: LauncherProcess): LauncherProcess => {
    generation.runners.set(key, handleMessage);
    generation.send({ kind: "start", order });
    return generation;
  };
  const restart = (): boolean => {
    if (isRepeated || leader || failure !== undefined || !isUnclaimed(order.folder)) return false;
    isRepeated = true;
    try {
      from = startIn(next());
      return true;
    } catch {
      // No other launcher could be started: the end of the first one is reported.
      return false;
    }
  };

  let from = startIn(next());
  return {
    started: begun.promise,
    leader: () => leader,
    failure: () => failure,
    unrecorded: () => unrecorded,
    isAlive: () => from.isAlive(),
    hasExited: () => hasExited,
    isClean: () => isClean,
    release: async () => {
      if (isComplete || !from.isAlive()) return;
      from.send({ kind: "release", key });
      await settleWithin(timers, ANSWER_MS, released.promise);
    },
    onChange: (call) => {
      look = call;
    },
  };
}

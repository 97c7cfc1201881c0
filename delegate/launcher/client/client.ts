/** Client of the launcher (../main.ts), which is started with the first step and again after it has ended. */
import { existsSync } from "node:fs";
import { textOf } from "../../fault.ts";
import { settleWithin, type Timers } from "../../timers.ts";
import type { LauncherCommand } from "../command.ts";
import type { StepOrder } from "../messages.ts";
import { ANSWER_MS, type LauncherProcess, type LauncherProcessDeps, startLauncherProcess } from "./launcher-process.ts";
import { createRunner, type Runner } from "./runner.ts";

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

export type LauncherDeps = LauncherProcessDeps & {
  readonly timers: Timers;
  readonly command: () => LauncherCommand;
};

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

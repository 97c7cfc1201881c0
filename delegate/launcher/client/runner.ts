/** The runner of a step, by what a launcher tells about it. */
import type { ProcessIdentity } from "../../processes/processes.ts";
import { isUnclaimed } from "../../task-folder/journal.ts";
import { settleWithin, type Timers } from "../../timers.ts";
import type { FromLauncher, StepOrder } from "../messages.ts";
import { ANSWER_MS, type LauncherProcess } from "./launcher-process.ts";

/** Runs a step and records how it ends. */
export type Runner = {
  /** Settles when the step has been started, or will not be. */
  readonly started: Promise<void>;
  /** The step's first process, the leader of its session. */
  readonly leader: () => ProcessIdentity | undefined;
  /** Why the step was not started, or why its end is unknown. */
  readonly failure: () => string | undefined;
  /**
   * Words of the journal that the launcher could not write yet; empty if there are none, undefined if that is not
   * known.
   */
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

/** A step, and what its launcher has told about it. */
type Run = {
  readonly order: StepOrder;
  readonly next: () => LauncherProcess;
  readonly begun: PromiseWithResolvers<void>;
  readonly released: PromiseWithResolvers<void>;
  launcher: LauncherProcess;
  leader: ProcessIdentity | undefined;
  failure: string | undefined;
  unrecorded: string;
  /** As of `Runner.onChange`. */
  look: () => void;
  /** A second launcher was asked to start the step. */
  isRepeated: boolean;
  hasExited: boolean;
  isClean: boolean;
  /** The output file is complete. */
  isComplete: boolean;
};

/** Creates the runner of a step. If the launcher ends before it has claimed the step, another one starts it, once. */
export function createRunner(next: () => LauncherProcess, order: StepOrder, timers: Timers): Runner {
  const run: Run = {
    order,
    next,
    begun: Promise.withResolvers<void>(),
    released: Promise.withResolvers<void>(),
    launcher: next(),
    leader: undefined,
    failure: undefined,
    unrecorded: "",
    look: () => {},
    isRepeated: false,
    hasExited: false,
    isClean: false,
    isComplete: false,
  };
  startIn(run.launcher, run);
  return {
    started: run.begun.promise,
    leader: () => run.leader,
    failure: () => run.failure,
    unrecorded: () => run.unrecorded,
    isAlive: () => run.launcher.isAlive(),
    hasExited: () => run.hasExited,
    isClean: () => run.isClean,
    release: async () => {
      if (run.isComplete || !run.launcher.isAlive()) return;
      run.launcher.send({ kind: "release", key: order.key });
      await settleWithin(timers, ANSWER_MS, run.released.promise);
    },
    onChange: (call) => {
      run.look = call;
    },
  };
}

function startIn(launcher: LauncherProcess, run: Run): void {
  launcher.runners.set(run.order.key, (message) => (message ? handleMessage(run, message) : handleEnd(run)));
  launcher.send({ kind: "start", order: run.order });
}

function handleMessage(run: Run, message: FromLauncher): void {
  switch (message.kind) {
    case "started":
      run.leader = { pid: message.pid, startTime: message.startTime };
      run.begun.resolve();
      return run.look();
    case "failed":
      run.failure = message.message;
      run.begun.resolve();
      return run.look();
    case "unrecorded":
      run.unrecorded = message.words;
      return run.look();
    case "exited":
      run.hasExited = true;
      run.isClean = message.isClean;
      run.isComplete = message.isComplete;
      if (run.isComplete) {
        run.launcher.runners.delete(run.order.key);
        // Also when a release is on its way: its answer would find no runner.
        run.released.resolve();
      }
      return run.look();
    case "killed":
      return run.look();
    case "released":
      run.launcher.runners.delete(run.order.key);
      return run.released.resolve();
  }
}

/** The launcher has ended. */
function handleEnd(run: Run): void {
  run.launcher.runners.delete(run.order.key);
  if (restart(run)) return;
  run.failure ??= run.leader ? undefined : run.launcher.describeEnd();
  run.begun.resolve();
  run.released.resolve();
  run.look();
}

function restart(run: Run): boolean {
  if (run.isRepeated || run.leader || run.failure !== undefined || !isUnclaimed(run.order.folder)) return false;
  run.isRepeated = true;
  try {
    const launcher = run.next();
    startIn(launcher, run);
    run.launcher = launcher;
    return true;
  } catch {
    // No other launcher could be started: the end of the first one is reported.
    return false;
  }
}

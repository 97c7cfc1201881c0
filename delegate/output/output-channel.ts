/**
 * Sends the output of one task. It owns the task's masks (masking.ts), the output that is sent (masked-output.ts) and the
 * shipper. tasks/task.ts drives it: `sendAvailable` while the step runs, `close` when its processes have ended, and then
 * `end` with the outcome. `close` removes the secret files and completes the output; `stop` releases the masks.
 *
 * When the delegate's disk fills up during a step:
 * 1. The step continues. The launcher drops its output from there on (launcher/copy.ts) and records `cut` in the journal.
 *    At its end the step fails with "The log of the step is incomplete" for every exit code (tasks/outcome.ts).
 * 2. Where the output is cut, the beginning of a secret is masked (`isTorn`).
 * 3. The launcher tries words without space in the journal, as `cut` and `exit`, again every second (launcher/step.ts).
 *    Meanwhile the delegate knows them from the launcher's messages (`Runner.unrecorded`).
 * 4. Masked output without space is tried again with the next output. `close` removes the step's own files (`work`,
 *    `tmp`) for it, and then waits for space. A step that is cancelled meanwhile fails as in 1.
 * 5. New tasks are returned to the server until there is space (availability.ts, tasks/start-task.ts).
 */
import type { StepMask, Masking, Masks } from "./masking.ts";
import { isFull, textOf } from "../fault.ts";
import type { Runner } from "../launcher/client/runner.ts";
import type { Log } from "../log.ts";
import type { RuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import type { Output } from "./masked-output.ts";
import { type Lease, createShipper, type Shipper } from "./shipper.ts";
import { readJournal } from "../task-folder/journal.ts";
import { paths } from "../task-folder/paths.ts";
import type { Intervals } from "../task-folder/watch-folder.ts";
import { removeTree } from "../work-folder/remove-tree.ts";

type Deps = {
  readonly log: Log;
  readonly intervals: Intervals;
  readonly runtimeFolder: Pick<RuntimeFolder, "removeSecretFiles">;
  readonly masking: Masking;
};
type ChannelSource = {
  readonly lease: Lease;
  readonly folder: string;
  readonly masks: Masks;
  readonly runner: Pick<Runner, "unrecorded">;
};

export type OutputChannel = Shipper & {
  readonly stepMask: StepMask;
  /**
   * Removes the secret files and completes the output. The caller has terminated the task's processes. While the disk
   * is full it waits for space. False: the waiting was stopped, and the output is incomplete.
   * @param isHurried does not wait
   */
  readonly close: (isHurried: boolean) => Promise<boolean>;
  /** `close` does not wait for space, or no longer. */
  readonly stopWaiting: () => void;
  /** Stops the timers and releases the masks, also if `close` has failed. */
  readonly stop: () => void;
};

/** The waiting of `close` for disk space. */
type Wait = { isAllowed: boolean; stopPause: () => void };

/** The caller calls `sendAvailable` when the output file has grown. Nothing is sent before `connect`. */
export function openOutputChannel(deps: Deps, source: ChannelSource): OutputChannel {
  const { log, intervals, runtimeFolder } = deps;
  const { lease, folder, masks, runner } = source;
  const stepMask = deps.masking.createStepMask(masks);
  const wait: Wait = { isAllowed: true, stopPause: () => {} };
  let isClosing = false;
  /** The launcher could not write all output, or has ended before it was complete, or that is not known. */
  const isTorn = (): boolean => {
    const unrecorded = runner.unrecorded();
    const { cut, exit } = readJournal(folder, unrecorded);
    // On a full disk the launcher may not have recorded the cut yet.
    return cut !== undefined || ((isClosing || unrecorded === undefined) && exit?.copied !== true);
  };
  const output = stepMask.createOutput(folder, { timers: intervals.timers, changed: () => sendAvailable(), isTorn });
  const shipper = createShipper(lease, output.file);

  const sendAvailable = (): void => {
    try {
      output.advance();
    } catch (error) {
      // A full disk may have space at the next attempt.
      log.warn({ task: lease.task, error: textOf(error) }, "the output of a task could not be masked");
    }
    shipper.sendAvailable();
  };

  /** They are removed again with the task's folder. */
  const warnOfSecretFiles = (error: unknown): void =>
    log.warn({ task: lease.task, error: textOf(error) }, "the secret files of an ended task could not be removed");

  return {
    ...shipper,
    sendAvailable,
    stepMask,
    close: async (isHurried) => {
      isClosing = true;
      if (isHurried) wait.isAllowed = false;
      if (masks !== "none") await runtimeFolder.removeSecretFiles(lease).catch(warnOfSecretFiles);
      return finishOutput(deps, source, { output, wait });
    },
    stopWaiting: () => {
      wait.isAllowed = false;
      wait.stopPause();
    },
    stop: () => {
      output.stop();
      wait.stopPause();
      stepMask.release();
    },
  };
}

/** Completes the output. False: it stays incomplete, because the disk is full and the waiting was stopped. */
async function finishOutput(
  { log, intervals }: Deps,
  { lease, folder }: ChannelSource,
  { output, wait }: { readonly output: Output; readonly wait: Wait },
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await output.finish();
      return true;
    } catch (error) {
      // A cancelled task does not need its whole log, for example if its step has closed the output.
      if (!isFull(error) && wait.isAllowed) throw error;
      if (attempt === 1) {
        await removeStepFiles(folder, lease, log);
        continue;
      }
      const words = wait.isAllowed ? "the end of a step waits for disk space" : "the log of a task is incomplete";
      if (!wait.isAllowed || attempt === 2) log.warn({ task: lease.task, error: textOf(error) }, words);
      if (!wait.isAllowed) return false;
    }
    await pause(wait, intervals);
  }
}

/** The step has ended: what it has written itself is not needed any more. */
async function removeStepFiles(folder: string, { task }: Lease, log: Log): Promise<void> {
  const { work, tmp } = paths(folder);
  for (const path of [work, tmp])
    await removeTree(path).catch((error: unknown) =>
      log.warn({ task, error: textOf(error) }, "the files of an ended step could not be removed"),
    );
}

const pause = (wait: Wait, { timers, pollMs }: Intervals): Promise<void> =>
  new Promise((resolve) => {
    const stopTimer = timers.after(pollMs, resolve);
    wait.stopPause = () => {
      stopTimer();
      if (!wait.isAllowed) resolve();
    };
  });

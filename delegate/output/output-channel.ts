import type { StepMask, Masking, Masks } from "./masking.ts";
import { textOf } from "../fault.ts";
import type { Log } from "../log.ts";
import type { RuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import { type End, type Lease, createShipper, type Shipper } from "./shipper.ts";
import type { Intervals } from "../task-folder/watch-folder.ts";

type Deps = {
  readonly log: Log;
  readonly intervals: Intervals;
  readonly runtimeFolder: Pick<RuntimeFolder, "removeSecretFiles">;
  readonly masking: Masking;
};
type ChannelSource = { readonly lease: Lease; readonly folder: string; readonly masks: Masks };

/** Sends the output of a task to the server, with its secrets masked. */
export type OutputChannel = Shipper & {
  readonly stepMask: StepMask;
  /** Removes the secret files and completes the output. The caller has terminated the task's processes. */
  readonly close: (end: End) => Promise<End>;
  /** Stops the timers. */
  readonly stop: () => void;
};

export function openOutputChannel(
  { log, intervals, runtimeFolder, masking }: Deps,
  { lease, folder, masks }: ChannelSource,
): OutputChannel {
  const stepMask = masking.createStepMask(masks);
  const output = stepMask.createOutput(folder, { timers: intervals.timers, changed: () => sendAvailable() });
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
    close: async (end) => {
      if (masks !== "none") await runtimeFolder.removeSecretFiles(lease).catch(warnOfSecretFiles);
      await output.finish();
      stepMask.release();
      return end;
    },
    stop: output.stop,
  };
}

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

/** All that leaves of a task: its output on the way to the server, and what may be said of it. */
export type OutputChannel = Shipper & {
  readonly stepMask: StepMask;
  /** The processes are gone: so is whoever might read the secrets, and nothing more is written to the output. */
  readonly close: (end: End) => Promise<End>;
  /** Looks no more. */
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
      // A disk that is full now may have room at the next look.
      log.warn({ task: lease.task, error: textOf(error) }, "the output of a task could not be masked");
    }
    shipper.sendAvailable();
  };

  return {
    ...shipper,
    sendAvailable,
    stepMask,
    close: async (end) => {
      if (masks !== "none") runtimeFolder.removeSecretFiles(lease);
      await output.finish();
      stepMask.release();
      return end;
    },
    stop: output.stop,
  };
}

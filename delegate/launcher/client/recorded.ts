/** The runner of a step that an earlier delegate's launcher has started. Its state comes from the journal. */
import { type Journal, readJournal } from "../../task-folder/journal.ts";
import { isAlive } from "../../processes/processes.ts";
import { pause, type Timers } from "../../timers.ts";
import type { Runner } from "./runner.ts";

const CHECK_MS = 5;

type RecordedRunnerOptions = {
  /** Of the machine now. */
  readonly bootId: string;
  /** `drainMs`: how long the launcher may take for the rest of the output after all writers have ended. */
  readonly timeouts: { readonly timers: Timers; readonly drainMs: number };
};

export function createRecordedRunner(
  folder: string,
  { meta, launcher, leader }: Journal,
  { bootId, timeouts }: RecordedRunnerOptions,
): Runner {
  const { timers, drainMs } = timeouts;
  const isOurs = meta?.bootId === bootId && launcher !== undefined;
  const runs = (): boolean => isOurs && isAlive(launcher);
  // A launcher that has claimed the task records the step an instant later.
  const known = (): Journal["leader"] => (isOurs ? (leader ?? readJournal(folder).leader) : undefined);
  const until = async (isSo: () => boolean): Promise<void> => {
    const end = timers.elapsed() + drainMs;
    while (!isSo() && runs() && timers.elapsed() < end) await pause(timers, CHECK_MS);
  };
  return {
    started: until(() => known() !== undefined),
    leader: known,
    failure: () => undefined,
    // The launcher reports only to the delegate that has started it.
    unrecorded: () => (runs() ? undefined : ""),
    isAlive: runs,
    hasExited: () => false,
    isClean: () => false,
    release: () => until(() => readJournal(folder).exit?.copied === true),
    onChange: () => {},
  };
}

/** The runner of a task that was not started. */
export const unstartedRunner: Runner = {
  started: Promise.resolve(),
  leader: () => undefined,
  failure: () => undefined,
  unrecorded: () => "",
  isAlive: () => false,
  hasExited: () => false,
  isClean: () => false,
  release: () => Promise.resolve(),
  onChange: () => {},
};

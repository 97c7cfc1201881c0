/**
 * Runs `work` repeatedly with a pause of `ms` milliseconds between two runs. Errors go to `onError`; the job continues.
 */
export function every(
  ms: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop: () => Promise<void> } {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const rest = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = work().catch(onError).finally(rest);
    }, ms);
  };
  rest();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** A job that runs until `stop`. */
type Stoppable = { readonly stop: () => Promise<void> };

/** Combines jobs into one; `stop` waits for all. */
export const combineJobs = (jobs: readonly Stoppable[]): Stoppable => ({
  stop: async () => void (await Promise.all(jobs.map((job) => job.stop()))),
});

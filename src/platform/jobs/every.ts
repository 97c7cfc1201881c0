/** Runs `work` again and again with `ms` of rest between two runs, never two at once; its errors are reported and it goes on. */
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

/** What goes on until it is stopped. */
type Stoppable = { readonly stop: () => Promise<void> };

/** Several as one. */
export const together = (jobs: readonly Stoppable[]): Stoppable => ({
  stop: async () => void (await Promise.all(jobs.map((job) => job.stop()))),
});

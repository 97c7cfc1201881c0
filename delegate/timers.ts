/** Time as an argument: epoch milliseconds, and a call after so many of them. `after` returns its own cancellation. */
export type Timers = {
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
};

export const systemTimers: Timers = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export const pause = (timers: Timers, ms: number): Promise<void> =>
  new Promise((resolve) => {
    timers.after(ms, resolve);
  });

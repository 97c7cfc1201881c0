/** Time as an argument, in milliseconds. */
export type Timers = {
  /** Since 1970, for what is told to others. An operator or a time service may set it back. */
  readonly now: () => number;
  /** Of a clock that only goes forward, for durations; its zero means nothing. */
  readonly elapsed: () => number;
  /** Calls once after so long. Returns its own cancellation. */
  readonly after: (ms: number, run: () => void) => () => void;
};

export const systemTimers: Timers = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export const pause = (timers: Timers, ms: number): Promise<void> =>
  new Promise((resolve) => {
    timers.after(ms, resolve);
  });

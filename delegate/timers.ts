/** Time as an argument, in milliseconds. */
export type Timers = {
  /** Epoch milliseconds, for times that are reported. An operator or a time service may set the clock back. */
  readonly now: () => number;
  /**
   * Milliseconds of the monotonic clock, for durations. All processes of this machine share it; a restart resets it.
   */
  readonly elapsed: () => number;
  /** Calls `run` once after `ms` milliseconds. Returns a function that cancels the call. */
  readonly after: (ms: number, run: () => void) => () => void;
};

/** From the zero of the machine's clock to that of this process. */
const zeroMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The machine's clocks and timers. A pending timer keeps the process alive. */
export const systemTimers: Timers = {
  now: () => Date.now(),
  elapsed: () => zeroMs + performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Settles as the promise, or with undefined after `ms` milliseconds. */
export const settleWithin = <T>(timers: Timers, ms: number, promise: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const cancel = timers.after(ms, () => resolve(undefined));
    promise.finally(cancel).then(resolve, reject);
  });

/** Resolves after `ms` milliseconds. It cannot be cancelled. */
export const pause = (timers: Timers, ms: number): Promise<void> =>
  new Promise((resolve) => {
    timers.after(ms, resolve);
  });

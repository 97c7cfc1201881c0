/** Time as an argument, in milliseconds. */
export type Timers = {
  /** Since 1970, for what is told to others. An operator or a time service may set it back. */
  readonly now: () => number;
  /** Of a clock that only goes forward, for durations. All processes of this machine read the same one; a restart sets it back. */
  readonly elapsed: () => number;
  /** Calls once after so long. Returns its own cancellation. */
  readonly after: (ms: number, run: () => void) => () => void;
};

/** From the zero of the machine's clock to that of this process. */
const zeroMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemTimers: Timers = {
  now: () => Date.now(),
  elapsed: () => zeroMs + performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export const pause = (timers: Timers, ms: number): Promise<void> =>
  new Promise((resolve) => {
    timers.after(ms, resolve);
  });

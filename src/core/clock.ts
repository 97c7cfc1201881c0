/** Time as an argument, so that tests can drive it (docs/decisions/0022-clocks.md). */
export type Clock = {
  /** Epoch milliseconds by the database's clock, whole; replicas may compare them. Never decreases within a process. */
  readonly now: () => number;
  /** Milliseconds by the monotonic clock, from an arbitrary moment on: for durations inside this process. */
  readonly elapsed: () => number;
};

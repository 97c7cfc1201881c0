/** Runs few works at a time: a hash of a password takes 19 MiB and one of the threads that files and names need too. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** `refuse` makes the error for those who find the queue full. */
export function makeTurns(options: {
  readonly atOnce: number;
  readonly queue: number;
  readonly refuse: () => Error;
}): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running >= options.atOnce) {
      if (waiting.length >= options.queue) throw options.refuse();
      // Whoever ends hands its place over: it is never free in between.
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

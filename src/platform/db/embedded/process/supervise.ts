import { setTimeout as pause } from "node:timers/promises";
import { terminateOrphans } from "./orphans.ts";
import { startPostmaster, stopPostmaster, type Launch, type Postmaster } from "./postmaster.ts";
import { sendSignal } from "./processes.ts";

export type Supervisor = {
  readonly pid: () => number | undefined;
  readonly stop: () => Promise<void>;
};

/** Milliseconds before the next attempt, by the number of failed ones. */
const pauseAfter = (failed: number): number => Math.min(100 * 2 ** failed, 10_000);

/**
 * Starts PostgreSQL and restarts it whenever it ends, until `stop`. Rejects when the first start fails. A later
 * failed start (a full disk) is logged and repeated with growing pauses: the server answers 503 meanwhile and
 * recovers without help once the cause is removed.
 */
export async function supervise(launch: Launch, onRestart: () => void): Promise<Supervisor> {
  const { log, folders } = launch;
  const stopping = new AbortController();
  let current: Postmaster | undefined = await startPostmaster(launch, stopping.signal);
  // PostgreSQL ends with this process, even without `stop`; only kill -9 leaves an orphan.
  const onExit = (): void => {
    if (current) sendSignal(current.pid, "SIGINT");
  };
  process.on("exit", onExit);

  /** Restarts the database. Undefined when it is no longer wanted. */
  async function restart(): Promise<Postmaster | undefined> {
    for (let failed = 0; !stopping.signal.aborted; failed += 1) {
      try {
        await terminateOrphans(folders, log);
        return await startPostmaster(launch, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return undefined;
        log.error({ err: error, attempt: failed + 1 }, "the database does not come back; trying again");
        await pause(pauseAfter(failed), undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
    return undefined;
  }

  async function watch(): Promise<void> {
    while (current) {
      const { how, output } = await current.ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      log.error({ how, output }, "the database has ended by itself; starting it again");
      current = await restart();
      if (!current) return;
      // `stop` was called in the moment when the new postmaster became ready.
      if (stopping.signal.aborted) await stopPostmaster(current);
      else report(onRestart);
    }
  }

  function report(work: () => void): void {
    log.info({}, "the database is back");
    try {
      work();
    } catch (error) {
      log.error({ err: error }, "the handler of the database's return failed");
    }
  }

  const watching = watch();
  return {
    pid: () => current?.pid,
    stop: async () => {
      stopping.abort(new Error("the database is being stopped"));
      if (current) await stopPostmaster(current);
      await watching;
      process.off("exit", onExit);
    },
  };
}

import { faultsOf, type Bench, type Result } from "./result.ts";

/** Milliseconds that a benchmark has to stop after the signal. */
export const STOP_TIMEOUT_MS = 30_000;

/** Runs a benchmark. Rejects with its name if it throws, does not stop after the signal, or has an invalid result. */
export async function measure(name: string, bench: Bench, ...args: Parameters<Bench>): Promise<Result> {
  const [signal] = args;
  const result = await Promise.race([bench(...args), rejectUnlessStopped(signal)]).catch((error: unknown) => {
    throw new Error(`the benchmark ${name} failed`, { cause: error });
  });
  const faults = faultsOf(result);
  if (faults.length > 0) throw new Error(`the benchmark ${name} has an invalid result: ${faults.join("; ")}`);
  return result;
}

/** Rejects STOP_TIMEOUT_MS after the signal, because a benchmark may wait for an answer without listening to it. */
function rejectUnlessStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => {
      const error = new Error("it did not stop after the signal", { cause: signal.reason });
      setTimeout(() => reject(error), STOP_TIMEOUT_MS).unref();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
}

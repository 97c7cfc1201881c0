import { faultsOf, type Bench, type Result } from "./result.ts";

/** What a benchmark has from being told to stop until nobody waits for it any more. */
export const TO_STOP_MS = 30_000;

/** Runs a benchmark. Rejects, naming it, when it throws, when it does not stop, and when its result is worthless. */
export async function measure(name: string, bench: Bench, ...given: Parameters<Bench>): Promise<Result> {
  const [signal] = given;
  const result = await Promise.race([bench(...given), neverStopped(signal)]).catch((error: unknown) => {
    throw new Error(`the benchmark ${name} failed`, { cause: error });
  });
  const faults = faultsOf(result);
  if (faults.length > 0) throw new Error(`the benchmark ${name} measured nothing of worth: ${faults.join("; ")}`);
  return result;
}

/** Rejects a while after the signal: what waits for an answer that never comes may not listen to it. */
function neverStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => {
      const error = new Error("it was told to stop and did not", { cause: signal.reason });
      setTimeout(() => reject(error), TO_STOP_MS).unref();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
}

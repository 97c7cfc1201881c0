/** Pauses between attempts: a pause doubles with each consecutive failure. */
import type { Timers } from "../timers.ts";

export type Retries<K> = {
  /** The last attempt succeeded, or its pause is over. */
  readonly isDue: (key: K) => boolean;
  readonly recordFailure: (key: K) => void;
  readonly recordSuccess: (key: K) => void;
};

const MAX_PAUSE_MS = 300_000;

/** @param firstMs the pause after the first failure */
export function createRetries<K>(timers: Pick<Timers, "elapsed">, firstMs: number): Retries<K> {
  const pauses = new Map<K, { readonly until: number; readonly ms: number }>();
  return {
    isDue: (key) => (pauses.get(key)?.until ?? 0) <= timers.elapsed(),
    recordFailure: (key) => {
      const ms = Math.min((pauses.get(key)?.ms ?? firstMs / 2) * 2, MAX_PAUSE_MS);
      pauses.set(key, { until: timers.elapsed() + ms, ms });
    },
    recordSuccess: (key) => void pauses.delete(key),
  };
}

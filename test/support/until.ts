import { setTimeout as rest } from "node:timers/promises";

const PATIENCE_MS = 20_000;
const BETWEEN_MS = 10;

/** Asks another program until its answer is the awaited one; for what nobody announces. Rejects with the last answer. */
export async function until<T>(ask: () => T | Promise<T>, isAwaited: (answer: T) => boolean): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await rest(BETWEEN_MS)) {
    const answer = await ask();
    if (isAwaited(answer)) return answer;
    if (performance.now() > end) throw new Error(`waited in vain; the last answer was ${JSON.stringify(answer)}`);
  }
}

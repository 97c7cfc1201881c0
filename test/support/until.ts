import { setTimeout as rest } from "node:timers/promises";

const PATIENCE_MS = 20_000;
const BETWEEN_MS = 10;

/** Polls until the answer is the awaited one, for state without notifications. Rejects with the last answer. */
export async function until<T>(ask: () => T | Promise<T>, isAwaited: (answer: T) => boolean): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await rest(BETWEEN_MS)) {
    const answer = await ask();
    if (isAwaited(answer)) return answer;
    if (performance.now() > end)
      throw new Error(`The awaited answer has not arrived; the last answer was ${JSON.stringify(answer)}`);
  }
}

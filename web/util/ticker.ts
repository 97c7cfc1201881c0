/** One timer for everything on the page that shows the time. It rests while nothing does. */
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

export function subscribeToTicks(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current second: two readings in one rendering are equal. */
export const currentSecond = (): number => Math.floor(Date.now() / TICK_MS) * TICK_MS;

function tick(): void {
  for (const listener of listeners) listener();
}

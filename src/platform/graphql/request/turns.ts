import { setImmediate } from "node:timers/promises";

/**
 * Turns for the nodes of a list whose fields have large values: the server answers other requests in between. Each
 * call resolves in its own round of the event loop. The turns belong to one request, because `context` is created for
 * each.
 */
export function createEventLoopTurns(): (context: object) => Promise<void> {
  const last = new WeakMap<object, Promise<void>>();
  return (context) => {
    // Immediates that are created together run in one round, so each is created after the previous one has run.
    const turn = (last.get(context) ?? Promise.resolve()).then(() => setImmediate());
    last.set(context, turn);
    return turn;
  };
}

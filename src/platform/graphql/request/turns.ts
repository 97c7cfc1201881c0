import { setImmediate } from "node:timers/promises";

/**
 * Turns for the nodes of a list whose fields have large values: the server answers other requests between two of them.
 * Each call resolves in a round of the event loop of its own. Kept for one request only, since `context` is made for each.
 */
export function createTurns(): (context: object) => Promise<void> {
  const last = new WeakMap<object, Promise<void>>();
  return (context) => {
    // Immediates of the same moment run in one round: each is made after the one before it has run.
    const turn = (last.get(context) ?? Promise.resolve()).then(() => setImmediate());
    last.set(context, turn);
    return turn;
  };
}

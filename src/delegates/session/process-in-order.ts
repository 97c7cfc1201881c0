import type { WebSocket } from "ws";
import { toServer, type ToServer } from "../../../protocol/messages.ts";
import { problem } from "../problems.ts";

/** Messages under way at most; beyond, the socket is not read until some are done. */
const MAX_PENDING = 64;

/** How long the other end may take to answer the close. */
const CLOSE_MS = 1_000;

/**
 * Gives each message to `take`, those of one task in their order, until the socket closes or something fails. `fail` gets what it
 * throws, and what is no message, and closes the socket. From then on nothing that arrives is looked at, and the socket ends within a second.
 */
export function takeInOrder(
  socket: WebSocket,
  take: (message: ToServer) => Promise<void>,
  fail: (error: unknown) => void,
): void {
  let pending = 0;
  // One chain for each task keeps its messages in order; different tasks do not wait for each other.
  const chains = new Map<string, Promise<void>>();
  const give = (error: unknown): void => {
    socket.off("message", hear);
    const late = setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.once("close", () => clearTimeout(late));
    fail(error);
  };
  const hear = (data: Buffer): void => {
    const message = parse(data);
    if (!message) return give(problem("delegate.illegal_message", ["it does not fit the protocol"]));
    pending += 1;
    if (pending === MAX_PENDING) socket.pause();
    const key = "task" in message ? message.task : "";
    const done = (chains.get(key) ?? Promise.resolve())
      .then(() => (socket.readyState === socket.OPEN ? take(message) : undefined))
      .catch(give)
      .finally(() => {
        pending -= 1;
        if (socket.isPaused && pending < MAX_PENDING) socket.resume();
        if (chains.get(key) === done) chains.delete(key);
      });
    chains.set(key, done);
  };
  socket.on("message", hear);
}

function parse(data: Buffer): ToServer | undefined {
  try {
    return toServer.parse(JSON.parse(data.toString("utf8")));
  } catch {
    return undefined;
  }
}

/** Parses the messages of one connection, whatever they say, and passes those of one task on in their order. */
import type { WebSocket } from "ws";
import { toServer, type ToServer } from "../../../protocol/messages.ts";
import { problem } from "../problems.ts";

/** Most messages in progress. With more, the socket is not read until some are done. */
const MAX_PENDING = 64;

/** Time that the peer may take to answer the close. */
const CLOSE_MS = 1_000;

/**
 * Passes each message to `take`, those of one task in order, until the socket closes or a message fails. `fail` gets
 * the error, also for a malformed message, and closes the socket. Later messages are ignored, and the socket ends
 * within a second.
 */
export function receiveMessages(
  socket: WebSocket,
  take: (message: ToServer) => Promise<void>,
  fail: (error: unknown) => void,
): void {
  let pending = 0;
  let hasFailed = false;
  // One chain for each task keeps its messages in order; tasks do not wait for each other.
  const chains = new Map<string, Promise<void>>();
  const failOnce = (error: unknown): void => {
    // Other messages were in progress when the first one failed.
    if (hasFailed) return;
    hasFailed = true;
    socket.off("message", receive);
    const closeTimer = setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.once("close", () => clearTimeout(closeTimer));
    fail(error);
  };
  const receive = (data: Buffer): void => {
    const message = parse(data);
    if (!message) return failOnce(problem("delegate.illegal_message", ["it does not fit the protocol"]));
    pending += 1;
    if (pending === MAX_PENDING) socket.pause();
    const key = "task" in message ? message.task : "";
    const done = (chains.get(key) ?? Promise.resolve())
      .then(() => (socket.readyState === socket.OPEN ? take(message) : undefined))
      .catch(failOnce)
      .finally(() => {
        pending -= 1;
        if (socket.isPaused && pending < MAX_PENDING) socket.resume();
        if (chains.get(key) === done) chains.delete(key);
      });
    chains.set(key, done);
  };
  socket.on("message", receive);
}

function parse(data: Buffer): ToServer | undefined {
  try {
    return toServer.parse(JSON.parse(data.toString("utf8")));
  } catch {
    return undefined;
  }
}

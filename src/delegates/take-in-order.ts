import type { WebSocket } from "ws";
import { toServer, type ToServer } from "../../protocol/messages.ts";
import { problem } from "./problems.ts";

/** Messages under way at most; beyond, the socket is not read until some are done. */
const MAX_PENDING = 64;

/** Gives each message to `take`, those of one task in their order, until the socket closes; `fail` gets what it throws, and what is no message. */
export function takeInOrder(
  socket: WebSocket,
  take: (message: ToServer) => Promise<void>,
  fail: (error: unknown) => void,
): void {
  let pending = 0;
  // One chain for each task keeps its messages in order; different tasks do not wait for each other.
  const chains = new Map<string, Promise<void>>();
  socket.on("message", (data: Buffer) => {
    const message = parse(data);
    if (!message) return fail(problem("delegate.illegal_message", ["it does not fit the protocol"]));
    pending += 1;
    if (pending === MAX_PENDING) socket.pause();
    const key = "task" in message ? message.task : "";
    const done = (chains.get(key) ?? Promise.resolve())
      .then(() => (socket.readyState === socket.OPEN ? take(message) : undefined))
      .catch(fail)
      .finally(() => {
        pending -= 1;
        if (socket.isPaused && pending < MAX_PENDING) socket.resume();
        if (chains.get(key) === done) chains.delete(key);
      });
    chains.set(key, done);
  });
}

function parse(data: Buffer): ToServer | undefined {
  try {
    return toServer.parse(JSON.parse(data.toString("utf8")));
  } catch {
    return undefined;
  }
}

/**
 * What happens to the rest of a body when the answer comes before its end, as refusals do: the connection closes after
 * the answer, and the rest is discarded for some time.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";

/** The rest of a body after its answer is read for this time. */
const DISCARDING_MS = 30_000;

/** Closes the connection after an answer that came before the end of the body. */
export function closeBeforeRest(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (!hasRest(request)) return done();
    // A small body arrives together with the head, and the connection can be used again.
    setImmediate(() => {
      if (hasRest(request)) closeAfter(request, reply);
      done();
    });
  });
}

/** Closes the connection of a request with such a rest after its answer. */
export function closeAfter(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("connection", "close");
  discardRest(request);
}

/** Whether part of the body has not arrived yet. */
export const hasRest = ({ raw }: FastifyRequest): boolean => hasBody(raw) && !raw.complete;

/** Whether the headers announce a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Called before an answer that comes before the end of the body. After the answer, the connection ends with the body,
 * whose rest is discarded: a system that closes a socket with unread bytes discards what it has not delivered, and a
 * client that sends everything before it reads would not see the answer.
 */
export function discardRest({ raw }: Pick<FastifyRequest, "raw">): void {
  const { socket } = raw;
  const endAtOnce = socket.destroySoon.bind(socket);
  raw.resume();
  // Node calls it after the last answer of a connection.
  socket.destroySoon = () => {
    if (raw.complete) return endAtOnce();
    socket.end();
    const late = setTimeout(() => socket.destroy(), DISCARDING_MS);
    socket.once("close", () => clearTimeout(late));
    raw.once("end", endAtOnce);
  };
}

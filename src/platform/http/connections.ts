/**
 * Bounds the work of one connection. Everything that can be read of it at once is parsed before other connections have
 * their turn: thousands of small requests, or hundreds of thousands of parts of a body.
 */
import type { FastifyServerFactory, FastifyServerFactoryHandler } from "fastify";
import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection without an answer. A client that sends more is disconnected without one. */
const MOST_UNANSWERED = 20;
/** Parts of a body that may have less than TINY bytes on average: some clients send JSON token by token. */
const MOST_TINY_PARTS = 20_000;
const TINY = 8;

type FastifyServerOptions = Readonly<Record<"keepAliveTimeout" | "requestTimeout" | "connectionTimeout", number>> & {
  readonly http: ServerOptions;
};

/** Creates the server of Fastify as Fastify does, and bounds the requests of each connection. */
export const createBoundedServer: FastifyServerFactory = (handle: FastifyServerFactoryHandler, options): Server => {
  const { http, keepAliveTimeout, requestTimeout, connectionTimeout } = options as FastifyServerOptions;
  const unanswered = new WeakMap<Socket, number>();
  const server = createServer(http, (request, response) => {
    const { socket } = request;
    const count = unanswered.get(socket) ?? 0;
    if (count >= MOST_UNANSWERED) return void socket.destroy();
    unanswered.set(socket, count + 1);
    response.once("close", () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    handle(request, response);
  });
  server.keepAliveTimeout = keepAliveTimeout;
  server.requestTimeout = requestTimeout;
  server.setTimeout(connectionTimeout);
  return server;
};

/** Returns what to call for each part of a body. Disconnects a client whose parts are far too small. */
export function refuseTinyParts({ socket }: IncomingMessage): (part: Buffer) => void {
  let [parts, bytes] = [0, 0];
  return ({ length }) => {
    parts += 1;
    bytes += length;
    if (parts > MOST_TINY_PARTS && bytes < parts * TINY) socket.destroy();
  };
}

/**
 * Bounds what one client can let the event loop do before others have their turn. A round of the loop accepts one
 * connection, parses what has arrived of each, and begins requests for some milliseconds, in turns of networks.
 */
import type { FastifyRequest, FastifyServerFactory, FastifyServerFactoryHandler } from "fastify";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "../network-of.ts";
import type { AddressOf } from "./client-address.ts";
import { createRounds } from "./rounds.ts";

/** Requests of one connection without an answer. A client that sends more is disconnected without one. */
const MOST_UNANSWERED = 20;
/** Milliseconds for which a round of the event loop begins requests. */
const ROUND_MS = 4;
/**
 * A body may have this many parts that are small on average (in bytes): each costs as much as a large one. Clients with
 * a credential may send JSON token by token, or YAML line by line.
 */
const SMALL_PARTS = { unknown: { parts: 1_000, bytes: 512 }, known: { parts: 10_000, bytes: 8 } };
/** A client that sends so many of them while nothing reads the body is disconnected without an answer. */
const UNREAD_PARTS = { unknown: 4_000, known: 16_000 };
export const TOO_MANY_PARTS = "The request body arrives in too many small parts. Send it with a Content-Length.";
/** Bytes of a body without a credential that are read in one turn. */
const BYTES_OF_TURN = 64 * 1024;
/** The rest of a body after its answer is read for this time. */
const DISCARDING_MS = 30_000;

// The event loop is one for the process, and so are its rounds.
const inRound = createRounds(ROUND_MS);

type FastifyServerOptions = Readonly<Record<"keepAliveTimeout" | "requestTimeout" | "connectionTimeout", number>> & {
  readonly http: ServerOptions;
};

export type BoundedServerOptions = {
  readonly addressOf: AddressOf;
  /** Whether a path has a WebSocket. No handler would close the connection of any other upgrade. */
  readonly hasWebSocket: (path: string) => boolean;
};

/** Creates the server of Fastify as Fastify does, with turns of networks. */
export const boundedServer =
  ({ addressOf, hasWebSocket }: BoundedServerOptions): FastifyServerFactory =>
  (handle: FastifyServerFactoryHandler, options): Server => {
    const { http, keepAliveTimeout, requestTimeout, connectionTimeout } = options as FastifyServerOptions;
    const unanswered = new WeakMap<Socket, number>();

    function begin(request: IncomingMessage, response: ServerResponse, answer: () => unknown): void {
      const { socket } = request;
      const count = unanswered.get(socket) ?? 0;
      if (count >= MOST_UNANSWERED) return disconnect(socket);
      unanswered.set(socket, count + 1);
      response.once("close", () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
      boundUnreadParts(request);
      inRound(
        () => networkOf(addressOf(request)),
        () => void (socket.writable && answer()),
      );
    }

    const shouldUpgradeCallback = ({ method, headers, url = "", socket }: IncomingMessage): boolean =>
      method === "GET" &&
      headers.host !== undefined &&
      headers.upgrade?.toLowerCase() === "websocket" &&
      hasWebSocket(url.split("?")[0] ?? "") &&
      (unanswered.get(socket) ?? 0) === 0;
    const server = createServer({ ...http, shouldUpgradeCallback }, (request, response) =>
      begin(request, response, () => handle(request, response)),
    );
    // Node itself would answer at once, outside of turns.
    server.on("checkExpectation", (request, response) => begin(request, response, () => response.writeHead(417).end()));
    server.keepAliveTimeout = keepAliveTimeout;
    server.requestTimeout = requestTimeout;
    server.setTimeout(connectionTimeout);
    return server;
  };

/** Node's parser of a connection, which it does not document. */
type Parsed = { readonly parser?: { onIncoming: () => number } | null };

/** What a parser gets to stop at a request: the rest of the connection is not HTTP. */
const STOP = 2;

/** Ends a connection at once. Without the first step, Node would parse the rest of what it has read, and call for each request. */
function disconnect(socket: Socket): void {
  const { parser } = socket as Parsed;
  if (parser) parser.onIncoming = () => STOP;
  socket.destroy();
}

/** Bounds the parts that wait in the request: all of a read is parsed before a reader is called. */
function boundUnreadParts(request: IncomingMessage): void {
  const { headers } = request;
  const sender = (headers["x-api-key"] ?? headers.authorization ?? headers.cookie) ? "known" : "unknown";
  const push = request.push.bind(request);
  let [parts, bytes] = [0, 0];
  request.push = (part: Buffer | null, ...rest) => {
    parts += 1;
    bytes += part?.length ?? 0;
    const isBounded = parts <= UNREAD_PARTS[sender] || bytes >= parts * SMALL_PARTS[sender].bytes;
    if (isBounded || request.readableFlowing) return push(part, ...rest);
    disconnect(request.socket);
    return false;
  };
}

/** A request whose body is read. `actor` is undefined without a credential in the headers. */
export type BodySender = Pick<FastifyRequest, "raw" | "actor" | "clientAddress">;

/**
 * Returns what to call for each part of a body. It returns true once the client has sent too many small parts. A body
 * without a credential is read in turns.
 */
export function boundBody({ raw, actor, clientAddress }: BodySender): (part: Buffer) => boolean {
  const most = actor ? SMALL_PARTS.known : SMALL_PARTS.unknown;
  let [parts, bytes, bytesOfTurn] = [0, 0, 0];
  return ({ length }) => {
    parts += 1;
    bytes += length;
    bytesOfTurn += length;
    if (!actor && bytesOfTurn >= BYTES_OF_TURN) {
      bytesOfTurn = 0;
      raw.pause();
      inRound(
        () => networkOf(clientAddress),
        () => void raw.resume(),
      );
    }
    return parts > most.parts && bytes < parts * most.bytes;
  };
}

/**
 * Called before an answer that comes before the end of the body. After the answer, the connection ends with the body,
 * whose rest is discarded: a system that closes a socket with unread bytes discards what it has not delivered, and a
 * client that sends everything before it reads would not see the answer.
 */
export function discardRest({ raw, clientAddress }: Pick<BodySender, "raw" | "clientAddress">): void {
  const { socket } = raw;
  const endAtOnce = socket.destroySoon.bind(socket);
  const isTooMuch = boundBody({ raw, clientAddress, actor: undefined });
  raw.on("data", (part: Buffer) => void (isTooMuch(part) && socket.destroy())).resume();
  // Node calls it after the last answer of a connection.
  socket.destroySoon = () => {
    if (raw.complete) return endAtOnce();
    socket.end();
    const late = setTimeout(() => socket.destroy(), DISCARDING_MS);
    socket.once("close", () => clearTimeout(late));
    raw.once("end", endAtOnce);
  };
}

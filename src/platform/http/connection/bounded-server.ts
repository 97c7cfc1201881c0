/**
 * Bounds what one client can let the event loop do before others have their turn. A round of the loop parses slices of
 * connections and begins requests for some milliseconds, in turns of networks.
 */
import type { FastifyServerFactory, FastifyServerFactoryHandler } from "fastify";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "../../network-of.ts";
import type { AddressOf } from "../client-address.ts";
import { Connection, type InTurn } from "./connection.ts";
import { hasBody } from "./early-answer.ts";
import { createRounds } from "./rounds.ts";

/** Requests of one connection without an answer. A client that sends more is disconnected without one. */
const MOST_UNANSWERED = 20;
/** Milliseconds for which a round of the event loop parses slices and begins requests. */
const ROUND_MS = 4;
/** A socket stops to read as soon as it has this many bytes: a paused connection stalls, and its timeout comes. */
const SOCKET_BUFFER = 1;

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

    function begin(request: IncomingMessage, response: ServerResponse, answer: () => unknown): void {
      const connection = connectionOf(request);
      if (connection.unanswered >= MOST_UNANSWERED) return void connection.destroy();
      connection.unanswered += 1;
      response.once("close", () => (connection.unanswered -= 1));
      connection.begin(request);
      inRound(
        () => networkOf(addressOf(request)),
        () => void (connection.writable && answer()),
      );
    }

    function shouldUpgradeCallback(request: IncomingMessage): boolean {
      const { method, headers, url = "" } = request;
      const isUpgrade =
        method === "GET" &&
        headers.host !== undefined &&
        headers.upgrade?.toLowerCase() === "websocket" &&
        // Node would parse the body after the upgrade, outside of turns.
        !hasBody(request) &&
        hasWebSocket(url.split("?")[0] ?? "") &&
        connectionOf(request).unanswered === 0;
      if (isUpgrade) connectionOf(request).upgrade();
      return isUpgrade;
    }

    const server = createServer({ ...http, shouldUpgradeCallback, highWaterMark: SOCKET_BUFFER }, (request, response) =>
      begin(request, response, () => handle(request, response)),
    );
    // Node itself would answer at once, outside of turns.
    server.on("checkExpectation", (request, response) => begin(request, response, () => response.writeHead(417).end()));
    // Node's own listener accepts any Duplex, although the declared type of the event is Socket.
    const acceptors = server.listeners("connection");
    server.removeAllListeners("connection").on("connection", (socket: Socket) => {
      const peer = networkOf(socket.remoteAddress ?? "");
      const inTurn: InTurn = (request, work) => inRound(() => (request ? networkOf(addressOf(request)) : peer), work);
      const connection = new Connection(socket, inTurn) as unknown as Socket;
      for (const accept of acceptors) accept.call(server, connection);
    });
    server.keepAliveTimeout = keepAliveTimeout;
    server.requestTimeout = requestTimeout;
    server.setTimeout(connectionTimeout);
    return server;
  };

const connectionOf = ({ socket }: IncomingMessage): Connection => socket as unknown as Connection;

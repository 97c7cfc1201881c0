/**
 * The connection to the server: reconnects after each loss and follows
 * protocol/messages.ts. It handles frames and heartbeats; the handler in SessionDeps
 * handles the messages about tasks.
 */
import { type RawData, WebSocket } from "ws";
import { MAX_FRAME, toDelegate, type ToDelegate, type ToServer } from "../../protocol/messages.ts";
import {
  chooseVersion,
  encodeForServer,
  formatRange,
  parseRange,
  PROTOCOL,
  PROTOCOL_HEADER,
  type ProtocolRange,
} from "../../protocol/versions.ts";
import { backoffMs } from "./backoff.ts";
import type { Log } from "../log.ts";
import type { Link } from "../output/shipper.ts";
import type { TaskMessage } from "../tasks/tasks.ts";
import type { Timers } from "../timers.ts";

export type SessionDeps = {
  readonly url: string;
  readonly token: string;
  readonly timers: Timers;
  readonly chance: () => number;
  readonly log: Log;
  readonly heartbeatMs: number;
  readonly hello: () => Extract<ToServer, { kind: "hello" }>;
  /** Handles the message; returns why it is illegal, otherwise undefined. */
  readonly handleMessage: (message: TaskMessage, link: Link) => string | undefined;
  /** Why no tasks are taken now. */
  readonly unavailable: () => string | undefined;
  readonly onDisconnected: () => void;
  /** The server has refused this delegate. */
  readonly refused: (message: string) => void;
};

/** Bytes buffered in the socket above which log messages wait in their files. */
const BUSY_BYTES = 4 * 1024 * 1024;
const HANDSHAKE_MS = 10_000;
/** Heartbeats without any life sign of the server until the connection counts as dead. */
const MISSED_BEATS = 2.5;

/**
 * Heartbeats without an answer until no task is started. The server gives the tasks of a silent delegate to others, at the
 * earliest after five. A delegate that was paused for longer, or whose connection stood still, reads orders that were
 * sent to it before.
 */
const UNANSWERED_BEATS = 4;

export type OpenSession = {
  /** Closes the session: nothing is sent or handled after that. */
  readonly close: () => void;
  /** Sends a heartbeat with the current availability. */
  readonly report: () => void;
};

/** Connects and stays connected. */
export function openSession(deps: SessionDeps): OpenSession {
  const { timers, log } = deps;
  let failures = 0;
  let stopped = false;
  let stopRetry = (): void => {};
  let close = (): void => {};
  let report = (): void => {};

  const stop = (): void => {
    stopped = true;
    stopRetry();
    close();
  };

  const attempt = (): void => {
    ({ close, report } = connect(deps, {
      welcomed: () => {
        failures = 0;
      },
      refused: (message) => {
        stop();
        deps.refused(message);
      },
      closed: (reason) => {
        deps.onDisconnected();
        if (stopped) return;
        failures += 1;
        const waitMs = backoffMs(failures, deps.chance());
        log.warn({ reason, waitMs }, "not connected to the server; trying again");
        stopRetry = timers.after(waitMs, attempt);
      },
    }));
  };
  attempt();
  return { close: stop, report: () => report() };
}

type Events = {
  readonly welcomed: () => void;
  readonly refused: (message: string) => void;
  /** Exactly once, last of all. */
  readonly closed: (reason: string) => void;
};

/** One connection, and what is known of it. */
type Connection = {
  readonly deps: SessionDeps;
  readonly events: Events;
  readonly socket: WebSocket;
  readonly link: Link;
  /** The version of the protocol, known when the connection opens. */
  protocol: number;
  /** Why it ends. */
  reason: string | undefined;
  isWelcomed: boolean;
  /** On the monotonic clock. */
  lastSignOfLife: number;
  /** When the latest message was sent that the server has certainly received, on the monotonic clock. */
  lastAnswered: number;
  /** When the hello was sent, which the welcome answers. */
  helloAt: number;
  stopHeartbeat: () => void;
};

/** Opens one connection. */
function connect(deps: SessionDeps, events: Events): OpenSession {
  const socket = new WebSocket(deps.url, {
    headers: { authorization: `Bearer ${deps.token}` },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
  });
  const connection: Connection = {
    deps,
    events,
    socket,
    link: { send: (message) => send(connection, message), isBusy: () => socket.bufferedAmount > BUSY_BYTES },
    protocol: PROTOCOL.min,
    reason: undefined,
    isWelcomed: false,
    lastSignOfLife: deps.timers.elapsed(),
    lastAnswered: deps.timers.elapsed(),
    helloAt: deps.timers.elapsed(),
    stopHeartbeat: () => {},
  };
  listen(connection);
  return {
    close: () => {
      // Until the server answers the close, a heartbeat would check folders that may be removed.
      connection.stopHeartbeat();
      socket.close(1001);
    },
    report: () => report(connection),
  };
}

function listen(connection: Connection): void {
  const { deps, events, socket } = connection;
  socket.on("upgrade", ({ headers }) => negotiate(connection, parseRange(headers[PROTOCOL_HEADER])));
  socket.on("open", () => {
    connection.helloAt = deps.timers.elapsed();
    send(connection, deps.hello());
    scheduleHeartbeat(connection);
  });
  socket.on("message", (data, isBinary) => handleFrame(connection, data, isBinary));
  socket.on("ping", () => {
    connection.lastSignOfLife = deps.timers.elapsed();
  });
  socket.on("pong", (data) => {
    connection.lastSignOfLife = deps.timers.elapsed();
    // The answer repeats what the ping said.
    connection.lastAnswered = Math.max(connection.lastAnswered, Number(data.toString()) || 0);
  });
  socket.on("unexpected-response", (request, response) => {
    request.destroy();
    const status = response.statusCode ?? 0;
    abandon(connection, `the server answered HTTP ${status}`);
    // The same as the message `refused`, sent before the WebSocket opens.
    if (status === 401 || status === 403) events.refused(`the server does not accept the token (HTTP ${status})`);
  });
  socket.on("error", (error) => {
    connection.reason ??= error.message;
  });
  socket.on("close", () => {
    connection.stopHeartbeat();
    events.closed(connection.reason ?? "the server closed the connection");
  });
}

/** Chooses the version, before the hello. */
function negotiate(connection: Connection, offered: ProtocolRange): void {
  const version = chooseVersion(PROTOCOL, offered);
  if (version !== undefined) {
    connection.protocol = version;
    return;
  }
  const versions = `the server speaks the versions ${formatRange(offered)} of the protocol, this delegate ${formatRange(PROTOCOL)}`;
  abandon(connection, versions);
  connection.events.refused(`${versions}; install a version of Railhead whose versions overlap`);
}

function send({ socket, protocol }: Connection, message: ToServer): void {
  // A message that is lost here is repeated on the next connection.
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(encodeForServer(message, protocol)));
}

function abandon(connection: Connection, why: string): void {
  connection.reason ??= why;
  connection.socket.terminate();
}

function report(connection: Connection): void {
  const { deps, socket, isWelcomed } = connection;
  if (isWelcomed && socket.readyState === WebSocket.OPEN)
    send(connection, { kind: "heartbeat", unavailable: deps.unavailable() });
}

function scheduleHeartbeat(connection: Connection): void {
  const { deps, socket } = connection;
  connection.stopHeartbeat = deps.timers.after(deps.heartbeatMs, () => {
    if (deps.timers.elapsed() - connection.lastSignOfLife > deps.heartbeatMs * MISSED_BEATS)
      return abandon(connection, "no sign of life from the server");
    report(connection);
    // The server's WebSocket answers a ping by itself: a missing answer shows a half-open connection.
    if (socket.readyState === WebSocket.OPEN) socket.ping(String(deps.timers.elapsed()));
    scheduleHeartbeat(connection);
  });
}

function handleFrame(connection: Connection, data: RawData, isBinary: boolean): void {
  const { deps, socket } = connection;
  if (socket.readyState !== WebSocket.OPEN) return;
  connection.lastSignOfLife = deps.timers.elapsed();
  const message = isBinary ? undefined : parse(data);
  const illegal = message ? handleMessage(connection, message) : "a frame that is no message of the protocol";
  if (illegal === undefined) return;
  deps.log.error({ illegal }, "the server sent an illegal message; the connection is closed");
  abandon(connection, `protocol broken: ${illegal}`);
}

/** Returns why the message is illegal, otherwise undefined. */
function handleMessage(connection: Connection, message: ToDelegate): string | undefined {
  const { deps, events, link } = connection;
  if (message.kind === "refused") {
    events.refused(`${message.code}: ${message.message}`);
    return undefined;
  }
  if ((message.kind === "welcome") === connection.isWelcomed) return `${message.kind} is out of order`;
  if (message.kind === "welcome") {
    const { delegate, keep, drop, protocol = PROTOCOL.min } = message;
    if (protocol !== connection.protocol) return `welcome names version ${protocol}, not ${connection.protocol}`;
    connection.isWelcomed = true;
    connection.lastAnswered = connection.helloAt;
    events.welcomed();
    deps.log.info({ delegate, protocol, keep: keep.length, drop: drop.length }, "connected to the server");
  }
  // After the next hello the server sends the orders that are still this delegate's.
  if (message.kind === "run" && deps.timers.elapsed() - connection.lastAnswered > deps.heartbeatMs * UNANSWERED_BEATS) {
    abandon(connection, "an order may be out of date: the server has not answered for too long");
    return undefined;
  }
  return deps.handleMessage(message, link);
}

/** The text of a frame, which the library passes in one of three types. */
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString();
}

function parse(data: RawData): ToDelegate | undefined {
  try {
    return toDelegate.safeParse(JSON.parse(textOf(data))).data;
  } catch {
    return undefined;
  }
}

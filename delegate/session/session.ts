/**
 * The connection to the server: reconnects after each loss and follows
 * protocol/messages.ts. It handles frames and heartbeats; the handler in SessionDeps
 * handles the messages about tasks.
 */
import { type RawData, WebSocket } from "ws";
import { MAX_FRAME, toDelegate, type ToDelegate, type ToServer } from "../../protocol/messages.ts";
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

/** One connection. */
function connect(deps: SessionDeps, events: Events): OpenSession {
  const { timers, log } = deps;
  const socket = new WebSocket(deps.url, {
    headers: { authorization: `Bearer ${deps.token}` },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_FRAME,
    perMessageDeflate: false,
  });
  let reason: string | undefined;
  let welcomed = false;
  let lastSignOfLife = timers.elapsed();
  let stopHeartbeat = (): void => {};

  const send = (message: ToServer): void => {
    // A message that is lost here is repeated on the next connection.
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const link: Link = { send, isBusy: () => socket.bufferedAmount > BUSY_BYTES };
  const abandon = (why: string): void => {
    reason ??= why;
    socket.terminate();
  };

  const report = (): void => {
    if (welcomed && socket.readyState === WebSocket.OPEN) send({ kind: "heartbeat", unavailable: deps.unavailable() });
  };

  const scheduleHeartbeat = (): void => {
    stopHeartbeat = timers.after(deps.heartbeatMs, () => {
      if (timers.elapsed() - lastSignOfLife > deps.heartbeatMs * MISSED_BEATS)
        return abandon("no sign of life from the server");
      report();
      // The server's WebSocket answers a ping by itself: a missing answer shows a half-open connection.
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      scheduleHeartbeat();
    });
  };

  const handleValid = (message: ToDelegate): string | undefined => {
    if (message.kind === "refused") {
      events.refused(`${message.code}: ${message.message}`);
      return undefined;
    }
    if ((message.kind === "welcome") === welcomed) return `${message.kind} is out of order`;
    if (message.kind === "welcome") {
      welcomed = true;
      events.welcomed();
      log.info(
        { delegate: message.delegate, keep: message.keep.length, drop: message.drop.length },
        "connected to the server",
      );
    }
    return deps.handleMessage(message, link);
  };

  socket.on("open", () => {
    send(deps.hello());
    scheduleHeartbeat();
  });
  socket.on("message", (data, isBinary) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    lastSignOfLife = timers.elapsed();
    const message = isBinary ? undefined : parse(data);
    const illegal = message ? handleValid(message) : "a frame that is no message of the protocol";
    if (illegal === undefined) return;
    log.error({ illegal }, "the server sent an illegal message; the connection is closed");
    abandon(`protocol broken: ${illegal}`);
  });
  for (const sign of ["ping", "pong"] as const)
    socket.on(sign, () => {
      lastSignOfLife = timers.elapsed();
    });
  socket.on("unexpected-response", (request, response) => {
    request.destroy();
    const status = response.statusCode ?? 0;
    abandon(`the server answered HTTP ${status}`);
    // The same as the message `refused`, sent before the WebSocket opens.
    if (status === 401 || status === 403) events.refused(`the server does not accept the token (HTTP ${status})`);
  });
  socket.on("error", (error) => {
    reason ??= error.message;
  });
  socket.on("close", () => {
    stopHeartbeat();
    events.closed(reason ?? "the server closed the connection");
  });
  return {
    close: () => {
      // Until the server answers the close, a heartbeat would check folders that may be removed.
      stopHeartbeat();
      socket.close(1001);
    },
    report,
  };
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

/**
 * A minimal server of the protocol for tests: it stores each byte of output once
 * and in order, acks it, and lets the test inspect everything. Port 0; every
 * message is checked by the protocol's schema.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import {
  MAX_FRAME,
  MAX_SECRET_CHUNK,
  type ToDelegate,
  type ToServer,
  toServer,
  type Work,
} from "../../protocol/messages.ts";
import { toServer6 } from "../../protocol/testing/version-6.ts";
import { encodeForDelegate, formatRange, PROTOCOL, PROTOCOL_HEADER } from "../../protocol/versions.ts";
import type { ConnectionTask } from "../../protocol/work/connection.ts";
import type { ShellTask } from "../../protocol/work/shell.ts";

export type Finished = Extract<ToServer, { kind: "finished" }>;
export type Hello = Extract<ToServer, { kind: "hello" }>;
export type Lease = { readonly task: string; readonly epoch: number };

export type PretendTask = Lease & {
  /** All output taken so far. */
  readonly output: () => Buffer;
  /** Settles when the delegate has reported the end. */
  readonly finished: Promise<Finished>;
  /** Settles once the output holds the text. */
  readonly printed: (text: string) => Promise<void>;
};

export type PretendServer = {
  readonly url: string;
  readonly socketUrl: string;
  readonly hellos: readonly Hello[];
  /** The authorization headers of all attempts. */
  readonly authorizations: readonly (string | undefined)[];
  /**
   * Settles when a delegate is connected and has been welcomed. One that was ended may count as connected for a moment.
   */
  readonly welcomed: () => Promise<void>;
  /** Settles with the next welcome from now on. */
  readonly nextWelcome: () => Promise<void>;
  /** Sends a task to the connected delegate. The epoch is 1 by default. */
  readonly run: (
    work:
      | (Partial<ShellTask> & { readonly script: string })
      | (Omit<ConnectionTask, "version"> & { readonly version?: 1 })
      | Work,
    lease?: Lease,
  ) => PretendTask;
  readonly send: (message: ToDelegate) => void;
  /** Sends a secret of the task that follows, in pieces of that size. */
  readonly sendSecret: (
    lease: Lease,
    nth: number,
    as: "value" | "file",
    content: string | Buffer,
    piece?: number,
  ) => void;
  /** Sends any text as a frame. */
  readonly sendRaw: (text: string) => void;
  /** Cuts the connection; the delegate comes back. */
  readonly cut: () => void;
  /** Settles when the current connection is closed. */
  readonly disconnected: () => Promise<void>;
  /** Settles with the next message that fits. */
  readonly next: (fits: (message: ToServer) => boolean) => Promise<ToServer>;
  readonly close: () => Promise<void>;
};

export type Behaviour = {
  /** HTTP status for the upgrade; 101 when left out. */
  readonly refuseWith?: () => number | undefined;
  /** Called with every log message before it is acked; may cut the connection. */
  readonly onLog?: (message: Extract<ToServer, { kind: "log" }>, server: PretendServer) => void;
  /** False keeps the ack of an end back. */
  readonly ackEnds?: () => boolean;
  /** The version of the protocol that it speaks. One of version 6 reads nothing else, and names no versions. */
  readonly protocol?: 6 | 7;
  /** The versions that it names in the handshake. */
  readonly versions?: string;
  /** Instead of the usual welcome. */
  readonly welcome?: (hello: Hello) => ToDelegate;
};

type Record = {
  chunks: Buffer[];
  committed: number;
  done: boolean;
  finish: (message: Finished) => void;
  changed: () => void;
};

export const newTaskId = (): string => randomBytes(16).toString("base64url");

export async function startPretendServer(behaviour: Behaviour = {}): Promise<PretendServer> {
  const { protocol = PROTOCOL.max } = behaviour;
  const records = new Map<string, Record>();
  const hellos: Hello[] = [];
  const authorizations: (string | undefined)[] = [];
  const waiting = new Set<{ fits: (message: ToServer) => boolean; found: (message: ToServer) => void }>();
  let socket: WebSocket | undefined;
  let greeted = Promise.withResolvers<void>();
  let welcome = Promise.withResolvers<void>();

  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME });
  const { versions = protocol === 6 ? undefined : formatRange(PROTOCOL) } = behaviour;
  if (versions !== undefined) sockets.on("headers", (headers) => headers.push(`${PROTOCOL_HEADER}: ${versions}`));
  http.on("upgrade", (request, stream, head) => {
    authorizations.push(request.headers.authorization);
    const status = behaviour.refuseWith?.();
    if (status === undefined && request.url === "/delegate/connect")
      return sockets.handleUpgrade(request, stream, head, (opened) => adopt(opened));
    stream.end(`HTTP/1.1 ${status ?? 404} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });

  const keyOf = (lease: Lease): string => `${lease.task}.${lease.epoch}`;
  const send = (message: ToDelegate): void => {
    socket?.send(JSON.stringify(encodeForDelegate(message, protocol)));
  };

  const usualWelcome = (hello: Hello): ToDelegate => ({
    kind: "welcome",
    delegate: newTaskId(),
    protocol,
    keep: hello.holds.flatMap((lease) => {
      const record = records.get(keyOf(lease));
      return record ? [{ ...lease, offset: record.committed }] : [];
    }),
    drop: hello.holds.filter((lease) => !records.has(keyOf(lease))),
  });

  const takeBytes = (record: Record, offset: number, data: string): void => {
    assert.ok(offset <= record.committed, `output has a gap: ${offset} after ${record.committed}`);
    const fresh = Buffer.from(data, "base64").subarray(record.committed - offset);
    record.chunks.push(fresh);
    record.committed += fresh.length;
    record.changed();
  };

  const take = (message: ToServer): void => {
    if (message.kind === "hello") {
      hellos.push(message);
      send((behaviour.welcome ?? usualWelcome)(message));
      greeted.resolve();
      welcome.resolve();
      welcome = Promise.withResolvers();
    } else if (message.kind !== "heartbeat") {
      const lease = { task: message.task, epoch: message.epoch };
      const record = records.get(keyOf(lease));
      if (!record || message.kind === "returned") return send({ kind: "drop", ...lease });
      if (message.kind === "log") behaviour.onLog?.(message, server);
      takeBytes(record, message.offset, message.data);
      if (message.kind === "log") return send({ kind: "logAck", ...lease, offset: record.committed });
      record.done = true;
      record.finish(message);
      if (behaviour.ackEnds?.() ?? true) send({ kind: "finishedAck", ...lease });
    }
  };

  const adopt = (opened: WebSocket): void => {
    socket = opened;
    opened.on("message", (data) => {
      // What was on its way when the test cut the connection is lost, as it would be.
      if (opened !== socket) return;
      const schema = protocol === 6 ? toServer6 : toServer;
      const message = schema.parse(JSON.parse((data as Buffer).toString("utf8")));
      take(message);
      for (const waiter of waiting) if (waiter.fits(message)) waiter.found(message);
    });
    opened.on("close", () => {
      if (opened === socket) lose();
    });
  };

  const lose = (): void => {
    socket = undefined;
    greeted = Promise.withResolvers();
  };

  const server: PretendServer = {
    url: "",
    socketUrl: "",
    hellos,
    authorizations,
    welcomed: () => greeted.promise,
    nextWelcome: () => welcome.promise,
    send,
    sendSecret: (lease, nth, as, content, piece = MAX_SECRET_CHUNK) => {
      const bytes = Buffer.from(content);
      for (let from = 0; from <= bytes.length; from += piece) {
        const data = bytes.toString("base64", from, from + piece);
        send({ kind: "secret", ...lease, nth, as, data, last: from + piece > bytes.length });
      }
    },
    sendRaw: (text) => socket?.send(text),
    run: (work, lease = { task: newTaskId(), epoch: 1 }) => {
      const end = Promise.withResolvers<Finished>();
      const known = records.get(keyOf(lease));
      const watchers = new Set<() => void>();
      const record = known ?? {
        chunks: [],
        committed: 0,
        done: false,
        finish: end.resolve,
        changed: () => {
          for (const look of watchers) look();
        },
      };
      records.set(keyOf(lease), record);
      const output = (): Buffer => Buffer.concat(record.chunks);
      send({
        kind: "run",
        ...lease,
        work: {
          version: "kubernetes" in work ? 2 : 1,
          ...("script" in work ? { kind: "shell", env: [], outputs: [] } : {}),
          ...work,
        } as Work,
      });
      return {
        ...lease,
        output,
        finished: end.promise,
        printed: (text) =>
          new Promise((resolve) => {
            const look = (): void => {
              if (output().includes(text)) resolve();
            };
            watchers.add(look);
            look();
          }),
      };
    },
    cut: () => {
      const old = socket;
      lose();
      old?.terminate();
    },
    disconnected: () => new Promise((resolve) => (socket ? socket.once("close", () => resolve()) : resolve())),
    next: (fits) =>
      new Promise((resolve) => {
        const waiter = {
          fits,
          found: (message: ToServer): void => {
            waiting.delete(waiter);
            resolve(message);
          },
        };
        waiting.add(waiter);
      }),
    close: () =>
      new Promise((resolve) => {
        socket?.terminate();
        http.close(() => resolve());
      }),
  };

  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return Object.assign(server, {
    url: `http://127.0.0.1:${port}`,
    socketUrl: `ws://127.0.0.1:${port}/delegate/connect`,
  });
}

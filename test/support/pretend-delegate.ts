/** A delegate that the test controls. It speaks the real protocol over a real socket and runs nothing. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";
import { toDelegate, type ToDelegate, type ToServer } from "../../protocol/messages.ts";
import { toDelegate6 } from "../../protocol/testing/version-6.ts";
import { PROTOCOL, type ProtocolRange } from "../../protocol/versions.ts";
import { connectionTask, type ConnectionTask } from "../../protocol/work/connection.ts";
import { shellTask, type ShellTask } from "../../protocol/work/shell.ts";

type Kind = ToDelegate["kind"];
type Of<K extends Kind> = Extract<ToDelegate, { kind: K }>;

export type Lease = { readonly task: string; readonly epoch: number };

export type PretendDelegate = {
  readonly send: (message: ToServer | Record<string, unknown>) => void;
  /** Returns the next unread message of this kind; other messages stay unread. Rejects if the connection ends first. */
  readonly next: <K extends Kind>(kind: K) => Promise<Of<K>>;
  /** Unread messages. */
  readonly waiting: () => readonly ToDelegate[];
  /** Sends bytes unchanged, for example an invalid message. */
  readonly sendRaw: (data: string | Buffer) => void;
  /** Sends output of a task, starting at `offset`. */
  readonly log: (lease: Lease, offset: number, output: string | Buffer) => void;
  /** Reports another end of a task. */
  readonly end: (run: Lease, outcome: Record<string, unknown>) => void;
  /** Reports that a task was cancelled. */
  readonly cancelled: (lease: Lease, survivors?: number | "unknown", offset?: number) => void;
  /** Reports the end of a task of a `run` message. */
  readonly finish: (
    run: Lease,
    how?: { exitCode?: number; output?: string | Buffer; offset?: number; outputs?: { name: string; value: string }[] },
  ) => void;
  /** Number of pings of the server that the delegate has answered. */
  readonly pings: () => number;
  /** Stops answering pings, as if the network lost everything. */
  readonly stopAnsweringPings: () => void;
  /** Resolves once the server has read every frame sent so far. The server does not count this exchange as activity. */
  readonly roundTrip: () => Promise<void>;
  readonly closed: Promise<number>;
  readonly close: () => Promise<void>;
  /** Cuts the connection without a close frame, as a broken network does. */
  readonly cut: () => Promise<void>;
};

export type PretendOptions = {
  readonly url: string;
  readonly token: string;
  readonly name?: string;
  readonly tags?: string[];
  readonly slots?: number;
  readonly identity?: string;
  readonly bootId?: string;
  readonly holds?: { task: string; epoch: number }[];
  /** The versions of the protocol that it speaks. As 6, it reads nothing else. */
  readonly protocol?: number | ProtocolRange;
  /** The kinds of work that it can run; scripts and connection tests by default. */
  readonly kinds?: { kind: string; versions: number[] }[];
  /** Reason why the delegate takes no tasks. */
  readonly unavailable?: string;
  /** Connects without a hello. */
  readonly silent?: boolean;
};

/** Work of version 6 of the protocol has no version. */
const withVersion = (work: Of<"run">["work"]): object => ({ ...work, version: work.version ?? 1 });

/** Returns the script of a `run` message. Throws if the message has no script. */
export function scriptOf({ work }: Of<"run">): ShellTask {
  return shellTask.parse(withVersion(work));
}

/** Returns the connection test of a `run` message. Throws if the message has none. */
export function connectionOf({ work }: Of<"run">): ConnectionTask {
  return connectionTask.parse(withVersion(work));
}

const RUNS_SCRIPTS = [
  { kind: "shell", versions: [1, 2] },
  { kind: "connection", versions: [1] },
];

export const newIdentity = (): string => randomBytes(32).toString("base64url");

/** Connects and sends hello. The welcome stays unread. */
export async function pretendDelegate(options: PretendOptions): Promise<PretendDelegate> {
  let [pinged, ignoresPings] = [0, false];
  const socket = new WebSocket(`${options.url.replace(/^http/, "ws")}/delegate/connect`, {
    headers: { authorization: `Bearer ${options.token}` },
    autoPong: false,
  });
  socket.on("ping", () => {
    if (ignoresPings) return;
    pinged += 1;
    socket.pong();
  });
  const arrived: ToDelegate[] = [];
  const takers: { kind: Kind; take: (message: ToDelegate) => void; fail: (error: Error) => void }[] = [];
  socket.on("message", (data: Buffer) => {
    const received: unknown = JSON.parse(data.toString("utf8"));
    const message = (options.protocol === 6 ? toDelegate6.parse(received) : toDelegate.parse(received)) as ToDelegate;
    const at = takers.findIndex((taker) => taker.kind === message.kind);
    if (at === -1) arrived.push(message);
    else takers.splice(at, 1)[0]?.take(message);
  });
  const closed = new Promise<number>((resolve) => {
    socket.on("close", (code) => {
      for (const taker of takers.splice(0))
        taker.fail(new Error(`The server closed the connection (${code}) before it sent ${taker.kind}.`));
      resolve(code);
    });
  });
  await once(socket, "open");
  socket.on("error", () => undefined);

  const send: PretendDelegate["send"] = (message) => socket.send(JSON.stringify(message));
  const next = <K extends Kind>(kind: K): Promise<Of<K>> =>
    new Promise((resolve, reject) => {
      const at = arrived.findIndex((message) => message.kind === kind);
      if (at !== -1) return resolve(arrived.splice(at, 1)[0] as Of<K>);
      if (socket.readyState !== socket.OPEN)
        return reject(new Error(`The connection is closed. No ${kind} will arrive.`));
      takers.push({ kind, take: (message) => resolve(message as Of<K>), fail: reject });
    });

  const { name = "pretend", tags = [], slots = 4, identity = newIdentity(), bootId = "boot-1", holds = [] } = options;
  const ended = (lease: Lease, offset: number, output: string | Buffer, outcome: Record<string, unknown>): void =>
    send({
      kind: "finished",
      task: lease.task,
      epoch: lease.epoch,
      offset,
      data: Buffer.from(output).toString("base64"),
      startedAt: 1,
      endedAt: 2,
      outcome,
    });
  if (!options.silent)
    send({
      kind: "hello",
      protocol: options.protocol ?? PROTOCOL,
      kinds: options.protocol === 6 ? undefined : (options.kinds ?? RUNS_SCRIPTS),
      identity,
      name,
      tags,
      host: "test",
      version: "test",
      bootId,
      slots,
      holds,
      unavailable: options.unavailable,
    });
  return {
    send,
    next,
    waiting: () => arrived,
    closed,
    pings: () => pinged,
    roundTrip: async () => {
      socket.ping();
      await once(socket, "pong");
    },
    stopAnsweringPings: () => void (ignoresPings = true),
    sendRaw: (data) => socket.send(data),
    log: ({ task, epoch }, offset, output) =>
      send({ kind: "log", task, epoch, offset, data: Buffer.from(output).toString("base64") }),
    end: (run, outcome) => ended(run, 0, "", outcome),
    cancelled: (lease, survivors = 0, offset = 0) => ended(lease, offset, "", { kind: "cancelled", survivors }),
    finish: (run, { exitCode = 0, output = "", offset = 0, outputs = [] } = {}) =>
      ended(run, offset, output, { kind: "exited", exitCode, outputs }),
    cut: async () => {
      socket.terminate();
      await closed;
    },
    close: async () => {
      socket.close();
      await closed;
    },
  };
}

/**
 * Messages between a delegate and a server, over one WebSocket that the
 * delegate opens (`GET /delegate/connect`, `authorization: Bearer <delegate token>`).
 * Every frame is one JSON object of the shapes below.
 *
 * Order of a session:
 *   1. delegate → `hello`, within HELLO_MS: who it is, the versions of the protocol that it speaks (versions.ts), the
 *      kinds of work that it can run, and every task it still holds.
 *   2. server → `welcome`: the version of this session, and for each held task either keep (with the log offset
 *      the server has committed; ship on from there) or drop (kill, forget).
 *   3. server → `run` for each task leased to it, `cancel` for a task that must end.
 *      The secrets of a task come before its `run`, in `secret` messages. The delegate discards
 *      them if the connection ends or a `cancel` comes first: a task starts with its `run`,
 *      and after the next `hello` the server sends all of its secrets again.
 *      The delegate does not start a `run` that it reads more than four heartbeats after the last of
 *      its messages that the server has certainly received (by the answer to a ping): the task may be
 *      another delegate's. It reconnects, and step 3 tells what is still its own.
 *   4. delegate → `log` in order of offset, any number; server → `logAck` once committed.
 *   5. delegate → `finished`, carrying the rest of the output; server → `finishedAck`
 *      once committed. Only then the delegate forgets the task.
 *   `heartbeat` from the delegate every HEARTBEAT_MS, and when it becomes unavailable or available.
 *   `returned` instead of 4 and 5 for a task that never started; it is answered with `drop`, and the
 *   task is leased again under a new epoch.
 *
 * A lost connection changes nothing: the delegate reconnects, sends `hello` again and
 * repeats every message without an ack. Repeats are harmless: of a log message the bytes
 * after the committed offset count, a finished task is acked again.
 * A message that carries an epoch other than the lease's changes nothing and is
 * answered with `drop`.
 */
import { z } from "zod";
import { nth, secretForm } from "./work/secrets.ts";

/** Milliseconds between two heartbeats. The server sends a ping after three intervals without any message. */
export const HEARTBEAT_MS = 10_000;
/** The server closes a connection that has not sent `hello` for this time. */
export const HELLO_MS = 10_000;
/** Bytes of output in one `log` or `finished` message, before base64. */
export const MAX_CHUNK = 64 * 1024;
/** Bytes of all output variables of a step together. */
export const MAX_OUTPUTS = 512 * 1024;
/** Bytes of a secret payload in one `secret` message, before base64. */
export const MAX_SECRET_CHUNK = 256 * 1024;
/** Bytes of one WebSocket frame. */
export const MAX_FRAME = 4 * 1024 * 1024;

/** Characters of the reason why a delegate takes no tasks. */
export const MAX_UNAVAILABLE = 256;

const id = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const epoch = z.int().min(1);
const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const lease = { task: id, epoch };

const kindName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
const workVersion = z.int().min(1).max(1_000_000);
/** Kind, version, and what only the module of the kind reads (`work/`). */
const work = z.looseObject({ kind: kindName, version: workVersion.default(1) });
/** The work of a task, opaque except for its kind and version. */
export type Work = z.infer<typeof work>;

const heldTask = z.strictObject({ ...lease });
/** A text without control characters, since lists and terminals show it. */
const printable = (max: number): z.ZodString =>
  z
    .string()
    .max(max)
    .regex(/^\P{Cc}*$/u, "control characters");

/**
 * Why the delegate accepts no tasks, to follow its name: "is short of disk space: …". Absent while it accepts tasks.
 */
const unavailable = z.string().min(1).max(MAX_UNAVAILABLE).optional();

/** When and how a task ended. Times in epoch milliseconds. */
export const taskEnd = z.strictObject({
  startedAt: z.int(),
  endedAt: z.int(),
  outcome: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("exited"),
      exitCode: z.int().min(0).max(255),
      outputs: z.array(z.strictObject({ name: z.string().max(256), value: z.string() })).max(256),
    }),
    /**
     * Ended because the server asked for it; `survivors` counts processes still alive after KILL, where it is
     * certain.
     */
    z.strictObject({ kind: z.literal("cancelled"), survivors: z.union([z.int().min(0), z.literal("unknown")]) }),
    /** The result of a `connection` task: the fault, or null. `code` is the HTTP status, or 0. */
    z.strictObject({
      kind: z.literal("tested"),
      fault: z
        .strictObject({ reason: z.string().max(256), message: z.string().max(4096), code: z.int().min(0).max(999) })
        .nullable(),
    }),
    /** The result of any other kind of work, in the form that this version of the kind defines. */
    z.strictObject({ kind: z.literal("completed"), version: workVersion, result: z.json() }),
    /** The task ended, and its result cannot be used: the task counts as failed. */
    z.strictObject({ kind: z.literal("refused"), message: z.string().max(1024) }),
    /** The task was never started, or its launcher ended without recording a status. It is not run again. */
    z.strictObject({ kind: z.literal("lost"), message: z.string().max(1024) }),
  ]),
});

/** Messages of a delegate. The server checks every frame with this schema; unknown fields are an error. */
export const toServer = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("hello"),
    /** The versions that the delegate speaks; a number in version 6 (versions.ts). */
    protocol: z.union([z.int(), z.strictObject({ min: z.int().min(1), max: z.int().min(1) })]),
    /** The kinds of work that it can run, each with its versions. Absent in version 6. */
    kinds: z
      .array(z.strictObject({ kind: kindName, versions: z.array(workVersion).min(1).max(16) }))
      .max(64)
      .optional(),
    /** Random, made once and kept in the work folder: the delegate's identity across restarts. */
    identity: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    name: printable(128).min(1),
    tags: z.array(printable(128).min(1)).max(64),
    host: printable(255),
    version: printable(64),
    /**
     * Changes when the machine restarts, and with the work folder: journals may lack tasks that the delegate with
     * this identity has received.
     */
    bootId: z.string().max(64),
    /** How many tasks it runs at once. */
    slots: z.int().min(1).max(1024),
    holds: z.array(heldTask).max(4096),
    unavailable,
  }),
  z.strictObject({ kind: z.literal("heartbeat"), unavailable }),
  /** The task was not started here, and will not be under this epoch. */
  z.strictObject({ kind: z.literal("returned"), ...lease, reason: z.string().min(1).max(1024) }),
  z.strictObject({ kind: z.literal("log"), ...lease, offset, data: z.base64().max((MAX_CHUNK * 4) / 3 + 8) }),
  z.strictObject({
    kind: z.literal("finished"),
    ...lease,
    /** Where `data`, the rest of the output, begins. */
    offset,
    data: z.base64().max((MAX_CHUNK * 4) / 3 + 8),
    ...taskEnd.shape,
  }),
]);
/** A checked message of a delegate. */
export type ToServer = z.infer<typeof toServer>;

/** Messages of the server. The delegate checks every frame with this schema; unknown fields are an error. */
export const toDelegate = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("welcome"),
    delegate: id,
    /** The version of this session. Absent in version 6. */
    protocol: z.int().optional(),
    keep: z.array(z.strictObject({ ...lease, offset })),
    drop: z.array(heldTask),
  }),
  z.strictObject({ kind: z.literal("run"), ...lease, work }),
  /** A chunk of a secret payload of the task whose `run` follows, in order. */
  z.strictObject({
    kind: z.literal("secret"),
    ...lease,
    nth,
    as: secretForm,
    data: z.base64().max(Math.ceil(MAX_SECRET_CHUNK / 3) * 4),
    last: z.boolean(),
  }),
  z.strictObject({ kind: z.literal("cancel"), ...lease }),
  z.strictObject({ kind: z.literal("logAck"), ...lease, offset }),
  z.strictObject({ kind: z.literal("finishedAck"), ...lease }),
  /** The server no longer knows this lease: kill what runs, forget the task. */
  z.strictObject({ kind: z.literal("drop"), ...lease }),
  /** The session ends for good: wrong protocol, name taken, token revoked. The delegate exits. */
  z.strictObject({ kind: z.literal("refused"), code: z.string(), message: z.string() }),
]);
/** A checked message of the server. */
export type ToDelegate = z.infer<typeof toDelegate>;

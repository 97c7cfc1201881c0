/**
 * Version 6 of the protocol as its last program had it, for tests of programs that still speak it. Its schemas are
 * strict: an unknown field breaks the connection.
 */
import { z } from "zod";

/** Bytes of output in one `log` or `finished` message, before base64. */
const MAX_CHUNK = 64 * 1024;
/** Bytes of a secret payload in one `secret` message, before base64. */
const MAX_SECRET_CHUNK = 256 * 1024;
/** Secrets that one step uses at most. */
const MAX_STEP_SECRETS = 256;
/** Further secrets that log in on its host. */
const MAX_LOGIN_SECRETS = 2;

/** Characters of the reason why a delegate takes no tasks. */
const MAX_UNAVAILABLE = 256;

const id = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const epoch = z.int().min(1);
const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const lease = { task: id, epoch };

const secretForm = z.enum(["value", "file"]);
const nth = z
  .int()
  .min(0)
  .max(MAX_STEP_SECRETS + MAX_LOGIN_SECRETS - 1);

/** The destinations of a step's secrets. The payloads come in `secret` messages, in the same order. */
const stepSecrets = z.strictObject({
  /**
   * `value`: its text. `file`: a file with its content, and the text is the path of that. `label`: for people, and for
   * the file's name.
   */
  uses: z
    .array(z.strictObject({ as: secretForm, label: z.string().max(256) }))
    .max(MAX_STEP_SECRETS + MAX_LOGIN_SECRETS),
  /** Variables composed of texts and secrets; a number is an index in `uses`. */
  env: z.array(z.strictObject({ name: z.string(), parts: z.array(z.union([z.string(), nth])) })),
});

/**
 * The host that a step runs on, and the login there. The credentials are indexes in the step's secrets. The patterns
 * exclude values that a program could read as an option.
 */
const shellTarget = z.strictObject({
  host: z.string().regex(/^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,252}$/),
  port: z.int().min(1).max(65_535),
  userName: z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.@\\-]*[A-Za-z0-9_.@-])?$/),
  /** Null: the login's home directory. */
  workingDirectory: z
    .string()
    .regex(/^[^\0\r\n]{1,4096}$/)
    .nullable(),
  auth: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("password"), password: nth }),
    z.strictObject({ kind: z.literal("key"), key: nth, passphrase: nth.nullable() }),
  ]),
});

const shellTask = z.strictObject({
  kind: z.literal("shell"),
  /** Bash source. Values reach it through `env` only, never pasted into the text. */
  script: z.string(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  /** Output variables to read when the script has ended: `name` is ours, `variable` the script's. */
  outputs: z.array(z.strictObject({ name: z.string(), variable: z.string() })),
  secrets: stepSecrets.optional(),
  /**
   * Without a target the step runs on the delegate's machine. Environment and outputs belong to the script on the
   * target.
   */
  target: shellTarget.optional(),
});

/** A connection test: it runs no script, writes nothing and can be repeated. */
const connectionTask = z.strictObject({
  kind: z.literal("connection"),
  /** A type of connector and its spec, both as the server stores them. */
  type: z.string().max(64),
  spec: z.json(),
  /** Values of the secrets that the spec references. Both sides keep them in memory only. */
  secrets: z.array(z.strictObject({ reference: z.string().max(256), value: z.string() })).max(16),
  /** Milliseconds until the delegate aborts the test. */
  timeoutMs: z.int().min(1),
});

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

/** Messages of a delegate. The server checks every frame with this schema; unknown fields are an error. */
export const toServer6 = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("hello"),
    protocol: z.int(),
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
      /** The script ended, and its result cannot be used: the task counts as failed. */
      z.strictObject({ kind: z.literal("refused"), message: z.string().max(1024) }),
      /** The task was never started, or its launcher ended without recording a status. It is not run again. */
      z.strictObject({ kind: z.literal("lost"), message: z.string().max(1024) }),
    ]),
  }),
]);

/** Messages of the server. The delegate checks every frame with this schema; unknown fields are an error. */
export const toDelegate6 = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("welcome"),
    delegate: id,
    keep: z.array(z.strictObject({ ...lease, offset })),
    drop: z.array(heldTask),
  }),
  z.strictObject({
    kind: z.literal("run"),
    ...lease,
    work: z.discriminatedUnion("kind", [shellTask, connectionTask]),
  }),
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

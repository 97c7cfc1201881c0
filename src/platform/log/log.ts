import { pino, type DestinationStream, type Logger } from "pino";
import { loggedError } from "./errors.ts";
import { readableLine } from "./readable.ts";

/** A logger of `createLog`, which masks the values of fields with credentials. */
export type Log = Logger;

/** Headers and fields with credentials. The log replaces their values. */
const SECRET_FIELDS = [
  "authorization",
  "x-api-key",
  "cookie",
  "set-cookie",
  "token",
  "apiKey",
  "password",
  "secret",
  "rootKey",
];

const redact = SECRET_FIELDS.flatMap((field) => {
  const key = field.includes("-") ? `["${field}"]` : field;
  return [key, field.includes("-") ? `*${key}` : `*.${key}`, field.includes("-") ? `*.*${key}` : `*.*.${key}`];
});

const people = { write: (line: string): void => void process.stderr.write(readableLine(line)) };

/** The log of one part, with entries at `level` or above that the whole log also includes. */
export function partLog(log: Log, part: string, level: "info" | "warn"): Log {
  const quieter = log.levelVal > (log.levels.values[level] ?? 0) ? log.level : level;
  return log.child({ part }, { level: quieter });
}

/**
 * Structured logs: one JSON object a line, on standard error; laid out for
 * people when that is a terminal. Standard output belongs to the answer of a command.
 */
export function createLog(
  level: string,
  destination: DestinationStream = process.stderr.isTTY ? people : process.stderr,
): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      redact: { paths: redact, censor: "[redacted]" },
      serializers: { err: (error: unknown) => loggedError(error) },
    },
    destination,
  );
}

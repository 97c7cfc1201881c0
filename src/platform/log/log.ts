import { pino, type Logger } from "pino";

export type Log = Logger;

/** Headers and fields that carry credentials: they are cut out wherever they are logged. */
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

/** Structured logs: one JSON object a line, on standard error. Standard output belongs to the answer of a command. */
export function makeLog(level: string, destination: NodeJS.WritableStream = process.stderr): Log {
  return pino(
    { level, base: { pid: process.pid }, redact: { paths: redact, censor: "[redacted]" } },
    destination as NodeJS.WriteStream,
  );
}

/** COPY … FROM STDIN over the driver's connection, the fastest way to load the tables. */
import { once } from "node:events";
import type { Client, Submittable } from "pg";

/** The part of the driver's connection that COPY needs. */
type DriverConnection = {
  readonly query: (text: string) => void;
  readonly sendCopyFromChunk: (chunk: Buffer) => void;
  readonly endCopyFrom: () => void;
  readonly sendCopyFail: (reason: string) => void;
  readonly stream: NodeJS.EventEmitter & { readonly writableNeedDrain: boolean };
};

/** Sends lines in COPY's text format, each with `\n`. Waits while the connection's buffer is full. */
export function copyIn(client: Client, text: string, lines: Iterable<string>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let failed: Error | undefined;
  const send = async (connection: DriverConnection): Promise<void> => {
    for (const line of inChunks(lines)) {
      connection.sendCopyFromChunk(Buffer.from(line));
      if (connection.stream.writableNeedDrain) await once(connection.stream, "drain");
      if (failed) return;
    }
    connection.endCopyFrom();
  };
  const query = {
    submit: (connection: DriverConnection) => connection.query(text),
    handleCopyInResponse: (connection: DriverConnection) =>
      void send(connection).catch((error: unknown) => {
        connection.sendCopyFail(String(error));
        reject(error instanceof Error ? error : new Error(String(error)));
      }),
    handleCommandComplete: () => undefined,
    handleError: (error: Error) => reject((failed = error)),
    handleReadyForQuery: () => resolve(),
  };
  client.query(query as unknown as Submittable);
  return promise;
}

const CHUNK = 256 * 1024;

function* inChunks(lines: Iterable<string>): Iterable<string> {
  let chunk = "";
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** A value in COPY's text format. */
export function field(value: string | number | null): string {
  if (value === null) return "\\N";
  if (typeof value === "number") return String(value);
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
}

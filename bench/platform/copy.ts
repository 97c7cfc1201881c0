/** COPY … FROM STDIN over the driver's own protocol: the fastest way into the real tables. */
import { once } from "node:events";
import type { Client, Submittable } from "pg";

/** As much of the driver's connection as a COPY needs. */
type Wire = {
  readonly query: (text: string) => void;
  readonly sendCopyFromChunk: (chunk: Buffer) => void;
  readonly endCopyFrom: () => void;
  readonly sendCopyFail: (reason: string) => void;
  readonly stream: NodeJS.EventEmitter & { readonly writableNeedDrain: boolean };
};

/** Sends lines of COPY's text format, ended by `\n`; waits whenever the database is slower than we are. */
export function copyIn(client: Client, text: string, lines: Iterable<string>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let failed: Error | undefined;
  const send = async (wire: Wire): Promise<void> => {
    for (const line of inChunks(lines)) {
      wire.sendCopyFromChunk(Buffer.from(line));
      if (wire.stream.writableNeedDrain) await once(wire.stream, "drain");
      if (failed) return;
    }
    wire.endCopyFrom();
  };
  const query = {
    submit: (wire: Wire) => wire.query(text),
    handleCopyInResponse: (wire: Wire) =>
      void send(wire).catch((error: unknown) => {
        wire.sendCopyFail(String(error));
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

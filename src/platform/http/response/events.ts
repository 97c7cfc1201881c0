/** Server-sent events (WHATWG HTML, section 9.2) on a raw response, with back-pressure. */
import type { ServerResponse } from "node:http";
import { once } from "node:events";

export type ServerSentEvent = {
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: string;
  /** Milliseconds after which a browser that lost the stream reconnects. */
  readonly retry?: number | undefined;
};

/** The writer of an open event stream. After `closed` it sends nothing and does not throw. */
export type EventSink = {
  /** Sends an event; resolves when the socket accepts more. `data` may contain line breaks. */
  readonly send: (event: ServerSentEvent) => Promise<void>;
  /** Sends a comment line, which keeps proxies from closing the stream. */
  readonly ping: () => Promise<void>;
  /** Aborted when the reader disconnects or the server stops. */
  readonly closed: AbortSignal;
};

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "access-control-allow-origin": "*",
};

/**
 * Runs `work` on an open event stream and then ends the response, also after an error. Resolves when all data is sent
 * or the reader is gone.
 */
export async function streamEvents(
  response: ServerResponse,
  stopping: AbortSignal,
  work: (sink: EventSink) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  if (response.destroyed) gone.abort();
  const closed = AbortSignal.any([gone.signal, stopping]);
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  const write = async (text: string): Promise<void> => {
    if (closed.aborted || response.write(text)) return;
    await once(response, "drain", { signal: closed }).catch(() => undefined);
  };
  try {
    await work({
      closed,
      send: ({ id, event, data, retry }) => {
        const lines = data.split("\n").map((line) => `data: ${line}\n`);
        const field = (name: string, value: string | number | undefined): string =>
          value === undefined ? "" : `${name}: ${value}\n`;
        return write(`${field("retry", retry)}${field("id", id)}event: ${event}\n${lines.join("")}\n`);
      },
      ping: () => write(": still here\n\n"),
    });
  } finally {
    await new Promise<void>((resolve) => {
      response.once("close", resolve);
      if (response.destroyed) resolve();
      else response.end(resolve);
    });
  }
}

/** Server-sent events (WHATWG HTML, section 9.2) on a raw response, with back-pressure. */
import type { ServerResponse } from "node:http";
import { once } from "node:events";

export type EventSink = {
  /** Resolves once the socket can take more. `data` may hold line breaks. */
  readonly send: (event: { readonly id?: string; readonly event: string; readonly data: string }) => Promise<void>;
  /** A comment line, so that proxies see that the stream lives. */
  readonly ping: () => Promise<void>;
  /** Aborted when the reader is gone or the server stops. */
  readonly closed: AbortSignal;
};

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "access-control-allow-origin": "*",
};

/** Runs `work` on an open event stream and ends the response after it, also when it fails. Resolves when all of it was taken, or nobody is there. */
export async function streamEvents(
  response: ServerResponse,
  stopping: AbortSignal,
  work: (sink: EventSink) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
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
      send: ({ id, event, data }) => {
        const lines = data.split("\n").map((line) => `data: ${line}\n`);
        return write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\n${lines.join("")}\n`);
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

/**
 * The load generator, a separate process. Each of its keep-alive connections sends the next request when the previous
 * answer is complete. It shares the cores with the measured server and therefore does little work: every request has
 * the same bytes, and of an answer it reads only the status and the length.
 */
import { connect, type Socket } from "node:net";
import { percentile } from "../runner/result.ts";

export type LoadOrder = {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly milliseconds: number;
};

/** `body` is the body of the first answer, so that the caller can check it. */
export type LoadAnswer = {
  readonly perSecond: number;
  readonly requests: number;
  /** The 99th percentile of the times from a request's sending to its complete answer, in milliseconds. */
  readonly p99: number;
  readonly body: string;
  readonly error: string | null;
};

process.on("message", (order: LoadOrder) => {
  run(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.({ perSecond: 0, requests: 0, p99: 0, body: "", error: String(error) }),
  );
});
process.once("disconnect", () => process.exit(0));

async function run(order: LoadOrder): Promise<LoadAnswer> {
  const bytes = Buffer.from(requestText(order));
  const from = performance.now();
  const until = from + order.milliseconds;
  let done = 0;
  let body = "";
  const times: number[] = [];
  const record = (sentAt: number, text: () => string): number | undefined => {
    if (done === 0) body = text();
    done += 1;
    const now = performance.now();
    times.push(now - sentAt);
    return now < until ? now : undefined;
  };
  await Promise.all(Array.from({ length: order.connections }, () => sendRequests(order.port, bytes, record)));
  const perSecond = (done * 1_000) / (performance.now() - from);
  return { perSecond, requests: done, p99: percentile(times, 0.99), body, error: null };
}

/** Records an answer to a request sent at `sentAt`. Returns the time of the next request, or undefined at the end. */
type RecordAnswer = (sentAt: number, body: () => string) => number | undefined;

/** Sends requests over one connection until `record` returns undefined. */
function sendRequests(port: number, bytes: Buffer, record: RecordAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt: number | undefined = performance.now();
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(bytes));
    let parts: Buffer[] = [];
    let missing = 0;
    const receive = (chunk: Buffer): void => {
      if (missing === 0) missing = lengthOf(chunk);
      parts.push(chunk);
      missing -= chunk.length;
      if (missing > 0) return;
      const answer = parts;
      parts = [];
      sentAt = record(sentAt ?? 0, () => bodyOf(Buffer.concat(answer)));
      if (sentAt === undefined) socket.end();
      else socket.write(bytes);
    };
    socket.on("data", (chunk: Buffer) => {
      try {
        receive(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
}

/** The length of the answer in bytes. Throws if the chunk has no complete head; both servers send it in one chunk. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf("\r\n\r\n");
  const head = chunk.toString("latin1", 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (end === -1 || !head.startsWith("HTTP/1.1 200 ") || length === undefined)
    throw new Error(`unexpected answer: ${chunk.toString("utf8", 0, 500)}`);
  return end + 4 + Number(length);
}

const bodyOf = (answer: Buffer): string => answer.toString("utf8", answer.indexOf("\r\n\r\n") + 4);

function requestText({ port, method, path, headers, body }: LoadOrder): string {
  const all = { host: `127.0.0.1:${port}`, ...headers, "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

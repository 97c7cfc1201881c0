/**
 * The load generator, a process of its own: a number of kept-alive connections,
 * each sending the next request when the answer to the last is complete. It
 * shares two cores with what it measures, so it does as little as possible: the
 * request is the same bytes every time, and of an answer it reads the status and
 * the length.
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

/** `body` is the first answer's, for the one who wants to see what was measured. */
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
  const count = (sentAt: number, text: () => string): number | undefined => {
    if (done === 0) body = text();
    done += 1;
    const now = performance.now();
    times.push(now - sentAt);
    return now < until ? now : undefined;
  };
  await Promise.all(Array.from({ length: order.connections }, () => converse(order.port, bytes, count)));
  const perSecond = (done * 1_000) / (performance.now() - from);
  return { perSecond, requests: done, p99: percentile(times, 0.99), body, error: null };
}

/** Takes an answer to what was sent at a moment; answers the moment at which the next is sent, or that it is enough. */
type Count = (sentAt: number, body: () => string) => number | undefined;

/** One connection, until `count` answers that it is enough. */
function converse(port: number, bytes: Buffer, count: Count): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt: number | undefined = performance.now();
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(bytes));
    let parts: Buffer[] = [];
    let missing = 0;
    const take = (chunk: Buffer): void => {
      if (missing === 0) missing = lengthOf(chunk);
      parts.push(chunk);
      missing -= chunk.length;
      if (missing > 0) return;
      const answer = parts;
      parts = [];
      sentAt = count(sentAt ?? 0, () => bodyOf(Buffer.concat(answer)));
      if (sentAt === undefined) socket.end();
      else socket.write(bytes);
    };
    socket.on("data", (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
}

/** The length of the whole answer whose head this chunk holds; both servers here send head and length at once. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf("\r\n\r\n");
  const head = chunk.toString("latin1", 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (end === -1 || !head.startsWith("HTTP/1.1 200 ") || length === undefined)
    throw new Error(`not an answer of the expected kind: ${chunk.toString("utf8", 0, 500)}`);
  return end + 4 + Number(length);
}

const bodyOf = (answer: Buffer): string => answer.toString("utf8", answer.indexOf("\r\n\r\n") + 4);

function requestText({ port, method, path, headers, body }: LoadOrder): string {
  const all = { host: `127.0.0.1:${port}`, ...headers, "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/**
 * The load generator, a process of its own: a number of kept-alive connections,
 * each sending the next request when the answer to the last is complete. It
 * shares two cores with what it measures, so it does as little as possible: the
 * request is the same bytes every time, and of an answer it reads the status and
 * the length.
 */
import { connect, type Socket } from "node:net";

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
  readonly body: string;
  readonly error: string | null;
};

process.on("message", (order: LoadOrder) => {
  run(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.({ perSecond: 0, requests: 0, body: "", error: String(error) }),
  );
});
process.once("disconnect", () => process.exit(0));

async function run(order: LoadOrder): Promise<LoadAnswer> {
  const bytes = Buffer.from(requestText(order));
  const from = performance.now();
  const until = from + order.milliseconds;
  let done = 0;
  let body = "";
  const count = (text: () => string): boolean => {
    if (done === 0) body = text();
    done += 1;
    return performance.now() < until;
  };
  await Promise.all(Array.from({ length: order.connections }, () => converse(order.port, bytes, count)));
  return { perSecond: (done * 1_000) / (performance.now() - from), requests: done, body, error: null };
}

/** One connection, until `count` answers that it is enough. */
function converse(port: number, bytes: Buffer, count: (body: () => string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
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
      if (count(() => bodyOf(Buffer.concat(answer)))) socket.write(bytes);
      else socket.end();
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

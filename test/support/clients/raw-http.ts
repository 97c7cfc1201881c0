/** HTTP requests that a correct client does not send: unnormalized paths, bodies that end early or never. */
import { once } from "node:events";
import { connect } from "node:net";

export type RawAnswer = {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  readonly sent: number;
};

/**
 * Sends a head and then `pieces` as fast as the server reads them, until the server has answered. Then it drops the
 * connection. `sent` is the number of body bytes sent.
 */
export async function rawRequest(
  url: string,
  head: readonly string[],
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> = [],
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answer = answerOn(socket);
  await once(socket, "connect");
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  let [sent, done] = [0, false];
  const ended = answer.then(
    () => void (done = true),
    () => void (done = true),
  );
  for await (const piece of pieces) {
    if (done) break;
    sent += piece.length;
    if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => undefined), ended]);
  }
  try {
    return { ...(await answer), sent };
  } catch (error) {
    throw Object.assign(error as Error, { sent });
  } finally {
    socket.destroy();
  }
}

async function answerOn(socket: ReturnType<typeof connect>): Promise<Omit<RawAnswer, "sent">> {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<RawAnswer, "sent">>();
  let text = "";
  const look = (closed: boolean): void => {
    const [head = "", ...rest] = text.split("\r\n\r\n");
    if (rest.length === 0)
      return closed ? reject(new Error("The server closed the connection without a response.")) : undefined;
    const body = rest.join("\r\n\r\n");
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (!closed && Buffer.byteLength(body) < length) return;
    resolve({ status: Number(head.split(" ")[1]), head, body });
  };
  socket.on("data", (data) => {
    text += data.toString("latin1");
    look(false);
  });
  socket.on("error", () => undefined);
  socket.on("close", () => look(true));
  return promise;
}

/** HTTP without a client's good manners: paths are sent as they are, bodies may be cut off or have no end. */
import { once } from "node:events";
import { connect } from "node:net";

export type RawAnswer = {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  readonly sent: number;
};

/**
 * Sends a head and then `pieces`, as fast as the server reads and they come, until the server has answered. The connection is
 * dropped then. `sent` counts the bytes of the body that left.
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
      return closed ? reject(new Error("the server closed the connection without an answer")) : undefined;
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

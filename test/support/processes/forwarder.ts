/** A load balancer in front of several servers: each new connection goes to the current target. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type Forwarder = {
  readonly url: string;
  /** Directs new connections to this server. Open connections stay. */
  readonly target: (url: string) => void;
  readonly close: () => Promise<void>;
};

export async function startForwarder(first: string): Promise<Forwarder> {
  let target = new URL(first);
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: (url) => void (target = new URL(url)),
    close: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

/** A TCP proxy on 127.0.0.1 that can cut, stall and drop its traffic. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from "node:net";

export type LinkMode =
  | "pass"
  /** Open and new connections are reset. */
  | "cut"
  /** Nothing is read from either side. Traffic continues when the link passes again. */
  | "stall"
  /** Connections are accepted and their data is dropped. They end when the link passes again. */
  | "blackhole";

export type Proxy = {
  readonly port: number;
  readonly set: (mode: LinkMode) => void;
  readonly close: () => Promise<void>;
};

type Pair = { readonly client: Socket; upstream: Socket | undefined };

/**
 * Reads `targets` at each connection and uses them in turn, as a load balancer: a client whose server does not respond
 * gets the next one when it tries again. `first` is the index of the first target. A connection to a target that
 * refuses goes to the next one.
 */
export async function startProxy(targets: () => readonly NetConnectOpts[], first = 0): Promise<Proxy> {
  const pairs = new Set<Pair>();
  let mode: LinkMode = "pass";
  let turn = first;

  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    // This may be a Unix socket, which has no reset.
    pair.upstream?.destroy();
  };

  const flow = ({ client, upstream }: Pair): void => {
    if (!upstream) return;
    client.pipe(upstream);
    upstream.pipe(client);
  };

  const halt = (pair: Pair): void => {
    pair.client.unpipe().pause();
    pair.upstream?.unpipe().pause();
  };

  const swallow = (pair: Pair): void => {
    halt(pair);
    for (const socket of [pair.client, pair.upstream]) socket?.on("data", () => {}).resume();
  };

  async function forward(pair: Pair): Promise<void> {
    const all = targets();
    const from = turn++;
    for (const [n] of all.entries()) {
      const upstream = await opened(all[(from + n) % all.length] as NetConnectOpts);
      if (!pairs.has(pair)) return void upstream?.destroy();
      if (!upstream) continue;
      pair.upstream = upstream;
      watch(pair, upstream);
      if (mode === "pass") flow(pair);
      else if (mode === "blackhole") swallow(pair);
      return;
    }
    end(pair);
  }

  function watch(pair: Pair, socket: Socket): void {
    socket.on("error", () => end(pair));
    // Pending data of the other side is sent before it ends.
    socket.on("close", () => {
      if (!pairs.delete(pair)) return;
      const other = socket === pair.client ? pair.upstream : pair.client;
      other?.destroySoon();
    });
  }

  const server = createServer((client) => {
    const pair: Pair = { client, upstream: undefined };
    pairs.add(pair);
    watch(pair, client);
    client.setNoDelay(true);
    if (mode === "cut") end(pair);
    else if (mode === "blackhole") swallow(pair);
    else if (mode === "pass") void forward(pair);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");

  return {
    port: (server.address() as AddressInfo).port,
    set: (wanted) => {
      const before = mode;
      if (wanted === before) return;
      mode = wanted;
      for (const pair of pairs) {
        if (wanted === "cut" || before === "blackhole") end(pair);
        else if (wanted === "stall") halt(pair);
        else if (wanted === "blackhole") swallow(pair);
        else if (pair.upstream) flow(pair);
        else void forward(pair);
      }
    },
    close: async () => {
      for (const pair of pairs) end(pair);
      server.close();
      await once(server, "close");
    },
  };
}

/** Returns a connected socket, or undefined if it is refused. */
async function opened(target: NetConnectOpts): Promise<Socket | undefined> {
  const socket = connect({ ...target, noDelay: true });
  try {
    await once(socket, "connect");
    return socket;
  } catch {
    socket.destroy();
    return undefined;
  }
}

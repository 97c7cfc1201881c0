/** A TCP proxy on 127.0.0.1 that can cut, stall and swallow what goes through it. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from "node:net";

export type LinkMode =
  | "pass"
  /** Open connections are reset, and so is each new one. */
  | "cut"
  /** Nothing is read any more, from either side; it goes on when the link passes again. */
  | "stall"
  /** Connections are accepted, and what they send disappears. They end when the link passes again. */
  | "blackhole";

export type Proxy = {
  readonly port: number;
  readonly set: (mode: LinkMode) => void;
  readonly close: () => Promise<void>;
};

type Pair = { readonly client: Socket; upstream: Socket | undefined };

/**
 * `targets` are asked at each connection and taken in turns: a client whose server does not answer gets the next one
 * when it tries again, as behind a load balancer. `first` is the place of the one to begin with. Connections to a target that refuses go to the next one.
 */
export async function startProxy(targets: () => readonly NetConnectOpts[], first = 0): Promise<Proxy> {
  const pairs = new Set<Pair>();
  let mode: LinkMode = "pass";
  let turn = first;

  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    // It may be a Unix socket, which knows no reset.
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
    // What the other side still has to get is sent before it ends.
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

/** A connected socket; undefined when it is refused. */
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

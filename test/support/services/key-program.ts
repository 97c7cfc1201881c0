/** A program of a secret manager whose answers the test controls. It connects to the test and answers on request. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type KeyCall = {
  readonly operation: "wrap" | "unwrap";
  /** The account's id as sent to the program. */
  readonly account: string;
  readonly answer: () => void;
};

export type KeyProgram = {
  /** The command for `secretCommands`. */
  readonly words: readonly string[];
  /** Holds calls from now on. Before, and after `release`, the program answers them at once. */
  readonly hold: () => void;
  /** Answers all held calls, and later calls at once. */
  readonly release: () => void;
  /** Returns the next held call, in the order of the calls. */
  readonly next: () => Promise<KeyCall>;
  /** Held calls that `next` has not returned. */
  readonly waiting: () => readonly KeyCall[];
  readonly stop: () => void;
};

/** Returns each data key unchanged instead of wrapping it. The keys protect only test data. */
const SCRIPT = (port: number): string => `#!/bin/bash
read -r line
field() { sed -E 's/.*"'"$1"'":"([^"]*)".*/\\1/' <<<"$line"; }
exec 3<>/dev/tcp/127.0.0.1/${port}
printf '%s %s\\n' "$1" "$(field account)" >&3
read -r _ <&3 || exit 1
if [ "$1" = wrap ]; then printf '{"keyId":"k","wrapped":"%s"}\\n' "$(field key)"
else printf '{"key":"%s"}\\n' "$(field wrapped)"; fi
`;

export async function startKeyProgram(): Promise<KeyProgram> {
  const folder = mkdtempSync(join(tmpdir(), "railhead-key-program-"));
  const sockets = new Set<Socket>();
  const calls: KeyCall[] = [];
  const takers: ((call: KeyCall) => void)[] = [];
  const held = new Set<KeyCall>();
  let isHolding = false;

  function takeCall(socket: Socket, line: string): void {
    const [operation = "", account = ""] = line.trim().split(" ");
    const call: KeyCall = {
      operation: operation === "wrap" ? "wrap" : "unwrap",
      account,
      answer: () => {
        held.delete(call);
        socket.end("\n");
      },
    };
    if (!isHolding) return call.answer();
    held.add(call);
    const taker = takers.shift();
    if (taker) taker(call);
    else calls.push(call);
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString();
      if (text.endsWith("\n")) takeCall(socket, text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const path = join(folder, "keys");
  writeFileSync(path, SCRIPT(port));
  chmodSync(path, 0o700);
  return {
    words: [path],
    hold: () => void (isHolding = true),
    release: () => {
      isHolding = false;
      calls.length = 0;
      takers.length = 0;
      for (const call of held) call.answer();
    },
    next: async () => calls.shift() ?? (await new Promise<KeyCall>((resolve) => void takers.push(resolve))),
    waiting: () => calls,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}
